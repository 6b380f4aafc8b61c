import Testing

@testable import Export

@Suite struct EDFRecordGridTests {
    @Test(
        "A record holds a whole number of samples of each stream",
        arguments: [
            ([256.0], 1, [256]),
            ([256.0, 52.0, 64.0], 1, [256, 52, 64]),
            ([256.5], 2, [513]),
            ([250.0, 62.5], 2, [500, 125]),
            ([1000.0 / 7], 7, [1000]),
            ([52.083_333_333_333_336], 12, [625]),
            ([0.1], 10, [1]),
        ] as [([Double], Int64, [Int])])
    func exact(frequencies: [Double], seconds: Int64, samples: [Int]) throws {
        let grid = try EDFRecordGrid(frequencies: frequencies)
        #expect(grid.durationMicroseconds == seconds * 1_000_000)
        #expect(grid.samplesPerRecord == samples)
    }

    @Test("A single odd frequency gets a record whose duration the header's eight characters hold")
    func odd() throws {
        let grid = try EDFRecordGrid(frequencies: [249.873_21])
        let duration = EDFField.fixed(Double(grid.durationMicroseconds) / 1e6, decimals: 6)
        #expect(duration.utf8.count <= 8)
        let error = Double(grid.samplesPerRecord[0]) / (Double(grid.durationMicroseconds) / 1e6) / 249.873_21 - 1
        #expect(abs(error) < 1e-7)
    }

    @Test("A Ganglion's samples and accelerations share records of a cycle")
    func cycle() throws {
        let grid = try EDFRecordGrid(frequencies: [200, 2000.0 / 201])
        #expect(grid.durationMicroseconds == 1_005_000)
        #expect(grid.samplesPerRecord == [201, 10])
    }

    @Test("Frequencies without a common record are refused with advice")
    func incompatible() {
        #expect(throws: ExportError.self) { try EDFRecordGrid(frequencies: [249.873_21, 51.317_7]) }
        #expect(throws: ExportError.self) { try EDFRecordGrid(frequencies: [0.001]) }
        #expect(throws: ExportError.self) { try EDFRecordGrid(frequencies: [.nan]) }
    }

    @Test("A range that fits is written as it is; a shifted one loses nothing; a wide one keeps every so many counts")
    func mapping() {
        let plain = EDFDigitalMapping(raw: 0...4095, variant: .edf)
        #expect(plain.isIdentity && plain.minimum == 0 && plain.maximum == 4095)
        let shifted = EDFDigitalMapping(raw: 0...65_535, variant: .edf)
        #expect(shifted.step == 1 && shifted.minimum == -32_768 && shifted.maximum == 32_767)
        #expect(shifted.digital(0) == -32_768 && shifted.raw(32_767) == 65_535)
        let wide = EDFDigitalMapping(raw: -8_388_608...8_388_607, variant: .edf)
        #expect(wide.step == 257)
        #expect(wide.minimum >= -32_768 && wide.maximum <= 32_767)
        #expect(abs(wide.raw(Int32(wide.digital(1_000_000))) - 1_000_000) <= 128.5)
        #expect(EDFDigitalMapping(raw: -8_388_608...8_388_607, variant: .bdf).isIdentity)
        let full = EDFDigitalMapping(raw: .min ... .max, variant: .bdf)
        #expect(full.step == 257 && full.minimum >= -8_388_608 && full.maximum <= 8_388_607)
        #expect(EDFDigitalMapping(raw: 7...7, variant: .edf).maximum == 8)
    }

    @Test("A declared range at the other end of 32 bits leaves a mapping within the format", arguments: [EDFVariant.edf, .bdf])
    func distantRange(variant: EDFVariant) {
        let ranges: [ClosedRange<Int32>] = [Int32.min...(Int32.min + 10), (Int32.max - 10)...Int32.max]
        for (raw, declared) in [(ranges[0], ranges[1]), (ranges[1], ranges[0])] {
            let mapping = EDFDigitalMapping(raw: raw, variant: variant)
            let widened = mapping.widened(within: declared, variant: variant)
            #expect(widened.minimum <= mapping.minimum && widened.maximum >= mapping.maximum)
            #expect(variant.digitalLimits.contains(widened.minimum) && variant.digitalLimits.contains(widened.maximum))
        }
    }
}
