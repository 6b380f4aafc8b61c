import Headsets
import Storage
import Testing

@testable import Export

@Suite struct EDFFieldTests {
    @Test(
        "A number uses its eight characters for as many digits as they hold",
        arguments: [
            (-450.0, "-450"), (449.780_273_437_5, "449.7803"), (-187.5, "-187.5"), (0.048_828_125, "0.048828"),
            (12_345_678.4, "12345678"), (-0.000_000_1, "0"), (99_999.999_96, "100000"),
        ] as [(Double, String)])
    func number(value: Double, text: String) {
        #expect(EDFField.number(value) == text)
    }

    @Test("A number too long for eight characters is refused, never cut")
    func longNumber() {
        #expect(EDFField.number(-12_345_678) == nil)
        #expect(EDFField.number(1e9) == nil)
        #expect(EDFField.number(.nan) == nil)
    }

    @Test("Text beyond printable ASCII becomes underscores; units keep their meaning")
    func ascii() {
        #expect(EDFField.ascii("Mu\u{308}ller") == "M_ller")
        #expect(EDFField.ascii("Müller\n") == "M_ller_")
        #expect(EDFField.ascii("µV") == "uV")
        #expect(EDFField.ascii("°C") == "degC")
    }

    @Test("A subfield has no spaces, and an unknown one is X")
    func subfield() {
        #expect(EDFField.subfield("Anna Maria") == "Anna_Maria")
        #expect(EDFField.subfield(nil) == "X")
        #expect(EDFField.subfield("") == "X")
    }

    @Test(
        "A start outside of 1985 ... 2084 is clipped and its date unknown",
        arguments: [
            (0, "01.01.85", "00.00.00", "X"),
            (473_385_599, "01.01.85", "00.00.00", "X"),
            (473_385_600, "01.01.85", "00.00.00", "01-JAN-1985"),
            (1_772_359_200, "01.03.26", "10.00.00", "01-MAR-2026"),
            (951_868_799, "29.02.00", "23.59.59", "29-FEB-2000"),
            (3_629_145_599, "31.12.84", "23.59.59", "31-DEC-2084"),
            (3_629_145_600, "01.01.85", "00.00.00", "X"),
        ] as [(Int64, String, String, String)])
    func start(seconds: Int64, date: String, time: String, startdate: String) {
        let start = EDFHeader.start(unixSeconds: seconds)
        #expect(start.date == date)
        #expect(start.time == time)
        #expect(start.startdate == startdate)
    }

    @Test("Times before 1970 are formatted, too")
    func beforeEpoch() {
        #expect(CivilTime.iso8601(unixNanoseconds: -1) == "1969-12-31T23:59:59.999999Z")
    }

    @Test("Patient and recording identification follow EDF+ and stay within 80 characters")
    func identification() throws {
        var fixture = RecordingFixture(streams: [])
        fixture.subject = "Jürgen K."
        fixture.label = "night 1"
        fixture.task = "sleep"
        let contents = try fixture.reader().contents
        #expect(EDFHeader.patient(contents) == "J_rgen_K. X X X")
        #expect(
            EDFHeader.recording(contents, startdate: "01-MAR-2026")
                == "Startdate 01-MAR-2026 X eegsync Buffered_EEG night_1 sleep")
        fixture.subject = String(repeating: "x", count: 200)
        fixture.label = String(repeating: "y", count: 200)
        #expect(EDFHeader.patient(try fixture.reader().contents).utf8.count == 80)
        #expect(EDFHeader.recording(try fixture.reader().contents, startdate: "X").utf8.count == 80)
    }

    @Test("What people say of subject and session, and the firmware, stand where EDF+ wants them, as far as there is room")
    func details() throws {
        var fixture = RecordingFixture(streams: [])
        fixture.subject = "P07"
        var contents = try fixture.reader().contents
        contents.provenance.fields = [
            "subject_sex": "female", "subject_birthdate": "1951-05-02", "subject_name": "Haagse Harry",
            "subject_handedness": "left", "operator": "J B", "session": "2", "run": "1",
        ]
        var facts = LinkFacts()
        (facts.firmwareRevision, facts.eegsync, facts.reference) = ("1.2 b", "0.1.0", "left earlobe")
        facts.settings = ["notch": ["50"]]
        contents.provenance.stretches = [Provenance.Stretch(fromUnixNanoseconds: 0, linkCount: 1, facts: facts)]
        #expect(EDFHeader.patient(contents) == "P07 F 02-MAY-1951 Haagse_Harry hand=left")
        #expect(
            EDFHeader.recording(contents, startdate: "01-MAR-2026", uncertaintySeconds: 0.001)
                == "Startdate 01-MAR-2026 X J_B Buffered_EEG times+-1.0ms session=2 run=1")
        contents.provenance.fields["subject_name"] = String(repeating: "z", count: 200)
        contents.provenance.fields["operator"] = String(repeating: "o", count: 200)
        #expect(EDFHeader.patient(contents).utf8.count == 80)
        #expect(EDFHeader.recording(contents, startdate: "01-MAR-2026").utf8.count <= 80)
        var signal = EDFSignal(
            label: "EEG TP9", physicalMinimum: "-1", physicalMaximum: "1", digitalMinimum: -1, digitalMaximum: 1,
            samplesPerRecord: 1)
        signal.describe(facts)
        #expect(signal.transducer == "electrode, reference left earlobe" && signal.prefiltering == "N:50Hz")
    }

    @Test(
        "The gain that a reader computes is within a millionth for usual headsets",
        arguments: [
            (0.2197265625, 0.0, -2048, 2047 as Int32, "uV"),
            (0.48828125, -1000.0, 0, 4095, "uV"),
            (0.022_351_744_455_307_063, 0.0, -8_388_608, 8_388_607, "uV"),
            (4.5 / 24 / 8_388_607, 0.0, -8_388_608, 8_388_607, "V"),
            (0.000_061_035_156_25, 0.0, -32_768, 32_767, "g"),
            (0.007_476_806_640_625, 0.0, -32_768, 32_767, "deg/s"),
            (1.0, 0.0, -32_768, 32_767, ""),
        ] as [(Double, Double, Int32, Int32, String)])
    func precision(scale: Double, offset: Double, low: Int32, high: Int32, unit: String) throws {
        let channel = RecordingFixture.channel("C", unit: unit, scale: scale, offset: offset, raw: low...high)
        let mapping = EDFDigitalMapping(raw: low...high, variant: .bdf)
        let signal = try EDFSignal(channel: channel, mapping: mapping, samplesPerRecord: 1)
        #expect(signal.scaleError(channel: channel, mapping: mapping) < 1e-6)
    }

    @Test("A range in a unit without prefixes keeps few digits where it is tiny, and the error is told")
    func lostPrecision() throws {
        let channel = RecordingFixture.channel("C", unit: "a.u.", scale: 1.234_567e-7)
        let mapping = EDFDigitalMapping(raw: -2048...2047, variant: .edf)
        let signal = try EDFSignal(channel: channel, mapping: mapping, samplesPerRecord: 1)
        #expect(signal.scaleError(channel: channel, mapping: mapping) > 1e-6)
    }

    @Test("A negative scale gives a physical minimum above the maximum, as EDF+ allows")
    func negativeScale() throws {
        let channel = RecordingFixture.channel("C", scale: -0.5)
        let signal = try EDFSignal(
            channel: channel, mapping: EDFDigitalMapping(raw: -2048...2047, variant: .edf), samplesPerRecord: 1)
        #expect(signal.physicalMinimum == "1024")
        #expect(signal.gain == -0.5)
    }

    @Test("Long labels are cut to 16 characters and stay unique")
    func labels() {
        let long = EDFSignal.label(RecordingFixture.channel("Frontopolar-left-2"))
        #expect(long == "EEG Frontopolar-")
        #expect(EDFSignal.unique([long, long, "EEG A", long]) == [long, "EEG Frontopola-2", "EEG A", "EEG Frontopola-3"])
    }
}
