import Headsets
import Storage

/// Writes a table as a tool would have recorded it: a row for each sample that is there, at its recorded time.
struct DialectWriter {
    /// What was written, for the check and the report.
    struct Written {
        /// Of the raw values, and of what else stands for a number.
        var values = SampleDigest()
        var bytes = ByteDigest()
        var rowCount: Int64 = 0
        /// Values of channels that a row lacks.
        var missingCount: Int64 = 0
        /// Rows of each held stream.
        var heldRowCounts: [Int64] = []
        /// The number of each annotation's text in the marker column.
        var eventNumbers: [String: Int64] = [:]
        /// Annotations after the last row.
        var restCount = 0
    }

    let table: DialectTable
    let annotations: [AnnotationContents]
    let reader: RecordingReader

    func write(to file: PartialFile, progress: (Double) -> Void) throws -> Written {
        let text = CSVBuffer(file: file)
        for line in table.header {
            for piece in Array(line.utf8).chunks(of: 512) {
                text.append(piece)
                try text.flush()
            }
            try text.endRow()
        }
        var row = DialectRow(table: table, text: text)
        let held = try table.held.map { try HeldRows($0, frequency: table.stream.samplingFrequency, reader: reader) }
        var events = EventNumbers(annotations)
        var clock = SampleClock(table.stream.clock)
        let half = Int64(0.5e9 / table.stream.samplingFrequency)
        let rows = JoinedRows(table.stream, reader: reader)
        while let runs = try rows.readWindow() {
            for run in runs {
                for index in run.rows {
                    let n = run.n + Int64(index - run.rows.lowerBound)
                    let time = clock.unixNanoseconds(ofSample: n) ?? 0
                    for stream in held { try stream.advance(to: time) }
                    var marker: Int64 = 0
                    switch table.events {
                    case .numbered: marker = events.next(stream: table.stream, n: n, until: time + half) ?? 0
                    case .rows(let prefix):
                        if row.written.rowCount == 0 {
                            for event in table.openingEvents { try row.appendEvent(event, time: time) }
                        }
                        while let event = events.nextAnnotation(until: time) {
                            try row.appendEvent(prefix + event.description, time: event.onsetUnixNanoseconds)
                        }
                    }
                    try row.append(n: n, time: time, marker: marker, row: index, of: rows, held: held)
                }
            }
            progress(rows.fractionDone)
        }
        if case .rows(let prefix) = table.events {
            while let event = events.nextAnnotation(until: .max) {
                try row.appendEvent(prefix + event.description, time: event.onsetUnixNanoseconds)
            }
        }
        try text.flush()
        var written = row.written
        written.bytes = text.digest
        written.heldRowCounts = held.map(\.rowCount)
        written.restCount = events.restCount
        written.eventNumbers = events.numbers
        return written
    }
}

/// The row that is being written.
private struct DialectRow {
    private(set) var written = DialectWriter.Written()
    private let columns: [TableColumn]
    private let separator: [UInt8]
    private let unknown: [UInt8]
    private let missing: DialectTable.MissingValue
    private let missingText: [UInt8]
    private let text: CSVBuffer
    private var day = DayTime()
    /// The value before of each channel, where the dialect has it stand for a missing one.
    private var last: [Int32?]

    init(table: DialectTable, text: CSVBuffer) {
        columns = table.columns
        separator = Array(table.separator.utf8)
        unknown = Array(table.unknown.utf8)
        missing = table.missing
        if case .text(let word) = table.missing { missingText = Array(word.utf8) } else { missingText = [] }
        last = Array(repeating: nil, count: table.stream.channels.count)
        self.text = text
    }

    mutating func append(
        n: Int64, time: Int64, marker: Int64, row: Int, of rows: JoinedRows, held: [HeldRows]
    ) throws {
        let (present, first) = (rows.present[row], row * rows.channelCount)
        for (position, column) in columns.enumerated() {
            if case .event = column.content { continue }
            if position > 0 { text.append(separator) }
            switch column.content {
            case .constant(let bytes): text.append(bytes)
            case .index(let index, let decimals): text.append(index(n), zeros: decimals)
            case .unixSeconds: text.appendSeconds(time)
            case .dateTime: day.append(time, to: text)
            case .marker(let decimals): text.append(marker, zeros: decimals)
            case .event: break
            case .held(let stream, let channel, let number): append(held[stream].values[channel], number)
            case .channel(let channel, let number):
                if present & (1 << UInt64(channel)) != 0 {
                    last[channel] = rows.values[first + channel]
                    append(last[channel], number)
                } else {
                    written.missingCount += 1
                    if missing == .valueBefore { append(last[channel], number) } else { appendMissing() }
                }
            }
        }
        try text.endRow()
        written.rowCount += 1
    }

    /// A row that holds nothing but a time and the text of the last column.
    mutating func appendEvent(_ words: String, time: Int64) throws {
        for (position, column) in columns.enumerated() {
            if position > 0 { text.append(separator) }
            if case .dateTime = column.content { day.append(time, to: text) }
            if case .event = column.content {
                // No control character, which would end the row; 512 bytes fit behind the separators.
                let shown = String(words.map { $0.isNewline ? " " : $0 })
                text.append(Array(Array(CSVWriter.quoted(shown).utf8).prefix(512)))
            }
            if column.number != nil { written.values.add(UInt64(bitPattern: CSVReader.missing)) }
        }
        try text.endRow()
    }

    private mutating func append(_ raw: Int32?, _ number: CSVNumber) {
        if let raw {
            number.append(raw, to: text)
            written.values.add(UInt64(bitPattern: Int64(raw)))
        } else {
            text.append(unknown)
            // What is written as 0 reads as 0.
            let value = unknown.isEmpty ? CSVReader.missing : number.raw(mantissa: 0, decimals: 0)
            written.values.add(UInt64(bitPattern: value))
        }
    }

    private mutating func appendMissing() {
        text.append(missingText)
        written.values.add(UInt64(bitPattern: CSVReader.missing))
    }
}

/// Writes `yyyy-MM-dd HH:mm:ss.SSS`; the second is formatted only when it changes.
private struct DayTime {
    private var second = Int64.min
    private var prefix: [UInt8] = []

    mutating func append(_ time: Int64, to text: CSVBuffer) {
        let newSecond = time.floorDivided(by: 1_000_000_000)
        if newSecond != second {
            second = newSecond
            prefix = CivilTime(unixSeconds: newSecond).iso8601.utf8.map { $0 == UInt8(ascii: "T") ? UInt8(ascii: " ") : $0 }
            prefix.append(UInt8(ascii: "."))
        }
        text.append(prefix)
        text.appendDigits(UInt64(time - newSecond * 1_000_000_000) / 1_000_000, width: 3)
    }
}
