import Bluetooth
import Foundation
import Testing

@testable import Alerts
@testable import eegsync

private let notice = Notice.test(
    id: "origin-7", machine: "pi", at: AlertInstant(time: .boot, unixNanoseconds: 1_790_000_000_000_000_000))

/// Commands and letters, by real programs.
@Suite struct ProgramWayTests {
    @Test func aCommandGetsTheMessageOnItsInputAndInItsEnvironment() async throws {
        let directory = try TestDirectory()
        let script = try directory.write(
            "#!/bin/sh\ncat > \"$1\"\nenv | grep EEGSYNC_ALERT_ | sort > \"$1.environment\"\n", to: "script", mode: 0o755)
        let outcome = await CommandWay(words: [script, directory.path("out")]).deliver(notice, undelivered: 0)
        #expect(outcome == .delivered)
        let document = try JSONSerialization.jsonObject(with: Data((directory.text("out") ?? "").utf8)) as? [String: Any]
        #expect(document?["id"] as? String == "origin-7")
        let environment = directory.text("out.environment") ?? ""
        #expect(environment.contains("EEGSYNC_ALERT_EVENT=test\n") && environment.contains("EEGSYNC_ALERT_ID=origin-7\n"))
    }

    @Test func aCommandThatFailsSaysWhy() async throws {
        let directory = try TestDirectory()
        let script = try directory.write("#!/bin/sh\necho 'no modem' >&2\nexit 3\n", to: "script", mode: 0o755)
        let outcome = await CommandWay(words: [script]).deliver(notice, undelivered: 0)
        #expect(outcome == .unclear(reason: "it ended with exit code 3: no modem"))
        let missing = await CommandWay(words: [directory.path("nothing")]).deliver(notice, undelivered: 0)
        guard case .refused = missing else { return #expect(Bool(false), "\(missing)") }
    }

    @Test(arguments: [65, 66, 67, 68, 75] as [Int32])
    func whatIsRefusedForWhatItSaysIsNotTriedForEver(code: Int32) async throws {
        let directory = try TestDirectory()
        let script = try directory.write("#!/bin/sh\nexit \(code)\n", to: "script", mode: 0o755)
        let reason = "it ended with exit code \(code)"
        let command = await CommandWay(words: [script]).deliver(notice, undelivered: 0)
        let ofCommand: DeliveryOutcome = code == 65 ? .rejected(reason: reason) : .unclear(reason: reason)
        #expect(command == ofCommand)
        var letter = Configuration.Alerts.Letter(receivers: ["night@example.org"])
        letter.program = script
        let mail = await MailWay(letter: letter).deliver(notice, undelivered: 0)
        // msmtp ends with 68 where it cannot resolve its server, and with 65 also where that takes a receiver not now.
        let ofMail: DeliveryOutcome = code == 67 ? .rejected(reason: reason) : .refused(reason: reason)
        #expect(mail == ofMail)
    }

    @Test func aCommandThatDoesNotEndIsKilledWithItsChildren() async throws {
        let directory = try TestDirectory()
        // Its own child holds the output open, and would live on.
        let script = try directory.write(
            "#!/bin/sh\ncat > /dev/null\ntail -f /dev/null & tail -f /dev/null\n", to: "s", mode: 0o755)
        let outcome = await CommandWay(words: [script], limit: .zero).deliver(notice, undelivered: 0)
        #expect(outcome == .unclear(reason: "it did not end in time and was killed"))
    }

    @Test func aChildThatGoesOnHoldsNobodyUp() async throws {
        let directory = try TestDirectory()
        let script = try directory.write(
            "#!/bin/sh\ntail -f /dev/null & echo $! > '\(directory.path("pid"))'\n", to: "s", mode: 0o755)
        #expect(await CommandWay(words: [script]).deliver(notice, undelivered: 0) == .delivered)
        let pid = try #require(directory.text("pid").flatMap { Int32($0.dropLast()) })
        // Whoever had waited for it would have killed it in the end.
        #expect(kill(pid, 0) == 0)
        kill(pid, SIGKILL)
    }

    @Test func aLetterGoesToSendmail() async throws {
        let directory = try TestDirectory()
        let sendmail = try directory.write(
            "#!/bin/sh\necho \"$@\" > '\(directory.path("arguments"))'\ncat > '\(directory.path("letter"))'\n", to: "sendmail",
            mode: 0o755)
        var letter = Configuration.Alerts.Letter(receivers: ["night@example.org", "day@example.org"])
        letter.program = sendmail
        #expect(await MailWay(letter: letter).deliver(notice, undelivered: 0) == .delivered)
        #expect(directory.text("arguments") == "-i -- night@example.org day@example.org\n")
        let text = directory.text("letter") ?? ""
        #expect(text.hasPrefix("To: night@example.org, day@example.org\nSubject: [eegsync] test: this is a test"))
        #expect(text.contains("\nMessage-ID: <origin-7@pi>\n"))
    }

    @Test func aMailSystemThatRefusesSaysWhy() async throws {
        let directory = try TestDirectory()
        var letter = Configuration.Alerts.Letter(receivers: ["night@example.org"])
        letter.program = try directory.write("#!/bin/sh\necho 'queue full' >&2\nexit 75\n", to: "sendmail", mode: 0o755)
        let outcome = await MailWay(letter: letter).deliver(notice, undelivered: 0)
        #expect(outcome == .refused(reason: "it ended with exit code 75: queue full"))
    }
}
