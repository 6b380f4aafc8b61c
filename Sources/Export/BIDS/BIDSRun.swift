import Headsets
import Storage

/// The staged files of one run: what belongs together under one name.
struct BIDSRun {
    /// A file that waits for its name.
    struct File {
        /// Its name in the staging directory.
        var staged: String
        /// `eeg`, `motion` or `beh`.
        var datatype: String
        /// The label of the tracking system, of motion.
        var trackingSystem: String?
        /// What follows the run's prefix: `_eeg.edf`.
        var suffix: String
        /// What the report says of it; nil for what describes other files.
        var exported: ExportedFile?
        /// True for what has a row in the table of scans.
        var isScan = false
    }

    var files: [File] = []
    /// What is known of the electrodes of its EEG; nil without.
    var electrodes: BIDSElectrodes?
}

/// How a recording is divided into runs: one for each piece that a single grid of samples can hold, and within it one for
/// each sampling frequency of EEG.
struct BIDSDivision {
    /// One run before it is written.
    struct Piece {
        /// Streams of one sampling frequency that go into an EDF+ or BDF+ file; may be empty.
        var eeg: [StreamPart] = []
        var motion: [StreamPart] = []
        var physiology: [StreamPart] = []
    }

    private(set) var pieces: [Piece] = []

    init(_ parts: [StreamPart]) {
        pieces = TimelinePieces(parts).pieces.flatMap { piece in
            Self.pieces(piece.map { StreamPart(stream: parts[$0.part].stream, range: $0.range) })
        }
    }

    private static func pieces(_ parts: [StreamPart]) -> [Piece] {
        func types(_ part: StreamPart) -> Set<String> { Set(part.stream.description.channels.map(\.type)) }
        func frequency(_ part: StreamPart) -> Double { part.stream.description.samplingFrequency }
        var pieces: [Piece] = []
        for part in parts where !types(part).isDisjoint(with: StreamKind.eegTypes) {
            if let known = pieces.firstIndex(where: { frequency($0.eeg[0]) == frequency(part) }) {
                pieces[known].eeg.append(part)
            } else {
                pieces.append(Piece(eeg: [part]))
            }
        }
        if pieces.isEmpty { pieces = [Piece()] }
        for part in parts where types(part).isDisjoint(with: StreamKind.eegTypes) {
            if types(part).isSubset(of: StreamKind.motionTypes) {
                pieces[0].motion.append(part)
            } else if types(part) == ["TRIG"], let first = pieces[0].eeg.first, frequency(first) == frequency(part) {
                pieces[0].eeg.append(part)
            } else {
                pieces[0].physiology.append(part)
            }
        }
        return pieces
    }
}
