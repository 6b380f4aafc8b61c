import Testing

@testable import eegsync

/// Which build it is, in words and beside data.
@Suite struct BuildIdentityTests {
    @Test func aBuildThatKnowsItsCommitSaysIt() {
        let build = BuildIdentity(version: "0.1.0", stamp: "81b5017 2026-11-24")
        #expect(build.description == "eegsync 0.1.0 (81b5017, 2026-11-24)")
        #expect(build.provenance == "0.1.0+81b5017")
    }

    @Test func aCheckoutWithChangesSaysSo() {
        let build = BuildIdentity(version: "0.1.0", stamp: "81b5017-changed 2026-11-24")
        #expect(build.description == "eegsync 0.1.0 (81b5017-changed, 2026-11-24)")
        #expect(build.provenance == "0.1.0+81b5017-changed")
    }

    @Test(arguments: ["", " ", "81b5017"])
    func anythingElseIsADevelopmentBuild(stamp: String) {
        let build = BuildIdentity(version: "0.1.0", stamp: stamp)
        #expect(build.description == "eegsync 0.1.0 (development build)")
        #expect(build.provenance == "0.1.0")
    }
}
