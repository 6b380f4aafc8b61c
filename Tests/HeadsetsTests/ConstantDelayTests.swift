import Headsets
import Testing

/// What is known of the delay that times contain.
struct ConstantDelayTests {
    @Test("The parts that a source or arithmetic tells are stated, and nothing else")
    func values() throws {
        let cyton = try #require(CytonProfile().constantDelay)
        // 1.5 conversions of 4 ms, and 33 bytes of ten bits at 115,200 baud.
        #expect(cyton.parts.map(\.duration) == [.milliseconds(6), .nanoseconds(2_864_583)])
        #expect(cyton.known == .nanoseconds(8_864_583))
        #expect(CytonProfile(hasDaisy: true).constantDelay?.known == .nanoseconds(10_864_583))
        #expect(CytonBLEProfile().constantDelay?.known == .milliseconds(8))
        #expect(HermesProfile().constantDelay?.known == .milliseconds(6))
        #expect(ThinkGearProfile().constantDelay?.known == .nanoseconds(1_388_888))
        #expect(TGAMProfile().constantDelay == ThinkGearProfile().constantDelay)
    }

    @Test("Every part says what it is and who says so; where nothing is known there is no part")
    func sources() {
        for profile in HeadsetCatalog.builtIn.profiles {
            for part in profile.constantDelay?.parts ?? [] {
                #expect(!part.meaning.isEmpty && !part.source.isEmpty && part.duration > .zero)
            }
            #expect(profile.constantDelay?.parts.isEmpty != true)
        }
        #expect(MuseProfile().constantDelay == nil)
    }
}
