import Foundation
import Testing

@testable import Report

@Suite("What a report shows of a recording")
struct ReportReadingTests {
    @Test("A gap is drawn where it was, with its cause and its length")
    func gap() throws {
        let stream = try #require(try RecordedHour().document().streams.first)
        let lost = stream.gaps.runs.filter { $0.kind == .linkLost }
        #expect(lost.count == 1)
        let run = try #require(lost.first)
        #expect(abs(run.start - 0.25) < 0.001 && abs(run.end - 0.275) < 0.001)
        #expect(stream.gaps.runs.map(\.kind) == [.linkLost, .packetLost, .silence])
        #expect(stream.gaps.runs.map(\.isPale) == [false, false, true])
        let sum = try #require(stream.gapSums.first { $0.cause == .linkLost })
        #expect((sum.count, sum.missing, sum.seconds, sum.longestSeconds) == (1, 6400, 100, 100))
        #expect(sum.meaning.hasPrefix("the link broke"))
        // Rows that lack a channel are there.
        let damaged = try #require(stream.gapSums.first { $0.cause == .packetLost })
        #expect((damaged.count, damaged.missing, damaged.seconds) == (1, 0, 0))
        #expect(stream.longestGaps.map(\.channel) == [nil, "AF7", nil])
    }

    @Test("What is missing at the end is drawn up to when the report is written")
    func openGap() throws {
        let document = try RecordedHour(isAway: true).document()
        let axis = try #require(document.axis)
        #expect(axis.end == RecordedHour.unix(5800))
        let run = try #require(document.streams.first?.gaps.runs.last)
        #expect(run.kind == .silence)
        #expect(abs(run.start - 4000.0 / 5800) < 0.002 && run.end == 1)
        #expect(document.streams.first?.longestGaps.last?.end == nil)
    }

    @Test("The connection's states follow each other, and a process that ended is one")
    func connection() throws {
        let connection = try #require(try RecordedHour().document().connection)
        #expect(connection.lane.runs.map(\.kind) == [.streaming, .searching, .streaming])
        let searching = try #require(connection.sums.first { $0.kind == .searching })
        #expect(abs(searching.seconds - 100) < 0.01 && searching.count == 1)
        #expect(searching.words == "looking for the headset")
    }

    @Test("Battery, marks and signals are those that were stored")
    func courses() throws {
        let document = try RecordedHour().document()
        #expect(document.battery.map(\.mean) == [90, 80, 70, 60])
        #expect(document.batteryFacts.map(\.value).first == "90 % at 2026-03-01 10:00:01 UTC")
        #expect(document.marks.count == 1 && abs((document.marks.positions.first ?? 0) - 0.75) < 0.001)
        let signals = try #require(document.streams.first?.signals)
        #expect(signals.map(\.channel) == ["TP9", "AF7"])
        #expect(signals.first?.shares == [.init(condition: .good, part: 1)])
        let flat = try #require(signals.last?.shares.first { $0.condition == .flat })
        #expect(abs(flat.part - 99.0 / 399) < 0.001)
        #expect(signals.last?.lane.runs.map(\.kind) == [.good, .flat])
        #expect(signals.first?.line50Hz == 1.5)
    }

    @Test("The spectrum of each hour has the channel's sine, with its power")
    func spectra() throws {
        let stream = try #require(try RecordedHour().document().streams.first)
        #expect(stream.spectra.map(\.channel) == ["TP9", "AF7"])
        for (spectra, hertz, amplitude) in zip3(stream.spectra, [10.0, 6], [20.0, 5]) {
            #expect(spectra.hours.map(\.hour) == [0, 1])
            // The gap of 100 s, and the last 400 s.
            #expect(abs((spectra.hours.first?.seconds ?? 0) - 3500) < 5)
            for hour in spectra.hours {
                let peak = try #require(hour.density.indices.max { hour.density[$0] < hour.density[$1] })
                #expect(stream.frequencies[peak] == hertz)
                let power = hour.power(from: hertz - 2, to: hertz + 2, at: stream.frequencies)
                #expect(abs(power / (amplitude * amplitude / 2) - 1) < 0.02, "\(spectra.channel)")
            }
        }
    }

    @Test("The time map's rate, lateness and uncertainty are those that were stored")
    func timeMap() throws {
        let map = try #require(try RecordedHour().document().streams.first?.timeMap)
        #expect(map.rate.count == 400 && map.rate.allSatisfy { abs($0.mean - 100) < 0.1 })
        #expect(map.uncertainty.allSatisfy { $0.mean == 3 })
        #expect(map.lateness.allSatisfy { abs($0.mean - 4) < 0.01 })
        #expect(map.facts.map(\.value).contains("+100.0 ppm on average"))
    }

    @Test("What nobody has said is said to be so")
    func provenance() throws {
        let facts = try RecordedHour(subject: nil).document().facts
        func value(_ label: String) -> String? { facts.first { $0.label == label }?.value }
        #expect(value("Subject") == "not said")
        #expect(value("Headset") == "anna, buffered-eeg")
        #expect(value("Filters")?.hasPrefix("none by eegsync") == true)
        #expect(value("First sample") == "2026-03-01 10:00:00 UTC")
    }

    private func zip3<A, B, C>(_ a: [A], _ b: [B], _ c: [C]) -> [(A, B, C)] { zip(a, zip(b, c)).map { ($0, $1.0, $1.1) } }
}
