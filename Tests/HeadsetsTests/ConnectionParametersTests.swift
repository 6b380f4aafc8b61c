import Bluetooth
import Headsets
import Testing

@Suite struct ProfileConnectionParametersTests {
    @Test func everyProfileLeavesItToTheControllerToNoticeThatAHeadsetIsGone() {
        for profile in HeadsetCatalog.builtIn.profiles {
            let parameters = profile.connectionParameters
            #expect(parameters.supervision <= profile.timing.silenceLimit, "\(profile.model)")
            #expect(profile.timing.silenceNotice <= .milliseconds(1500), "\(profile.model)")
            #expect((Duration.seconds(2) ... .seconds(6)).contains(parameters.supervision), "\(profile.model)")
            #expect(parameters.interval.upperBound <= max(.microseconds(7500), profile.timing.packetPeriod * 2))
        }
    }
}
