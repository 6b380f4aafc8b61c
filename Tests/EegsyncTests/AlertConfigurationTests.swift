import Foundation
import Testing
import YAMLReading

@testable import Alerts
@testable import eegsync

/// `alerts:` of the configuration.
@Suite struct AlertConfigurationTests {
    private func alerts(_ text: String) throws -> Configuration.Alerts? { try parse(configuration(more: text)).alerts }

    private func complaints(_ text: String) -> [String] { problems(configuration(more: text)) }

    @Test func withoutAWordNobodyIsNotifiedAndWithWaysAloneAllRulesCount() throws {
        #expect(try alerts("") == nil)
        let standard = try #require(try alerts("alerts: {ways: [{kind: http, url: 'https://a.example.org/x'}]}"))
        #expect(standard.rules == AlertRule.standard)
        #expect(standard.repeating == .seconds(21_600))
        #expect(standard.ways == [.init(name: "http", kind: .http(.init(address: .url("https://a.example.org/x"))))])
    }

    @Test func everyKeyIsRead() throws {
        let text = """
            alerts:
              repeat_hours: 0
              ways:
                - {name: phone, kind: http, url_file: /etc/eegsync/phone.url, headers_file: /etc/eegsync/h, shape: ntfy}
                - {name: mail, kind: mail, to: [a@example.org, b@example.org], from: pi@example.org, sendmail: /usr/bin/msmtp}
                - {name: script, kind: command, command: [/usr/local/bin/alert, --loud]}
                - {name: lamp, kind: led, led: ACT, trigger: timer}
              rules:
                - {when: no_samples, for_seconds: 120, clear_seconds: 30, headsets: [left], ways: [phone, lamp]}
                - {when: battery_below, percent: 30, severity: critical, name: half-empty}
                - {when: battery_below, percent: 10}
                - {when: contact_bad, channels: 2}
                - {when: gap_rate, percent: 1.5}
                - {when: disk_days, days: 0.5}
                - {when: restarts, count: 5, within_hours: 24}
                - {when: temperature, celsius: 70}
                - {when: undervoltage}
            """
        let alerts = try #require(try alerts(text))
        #expect(alerts.repeating == nil)
        let phone = Configuration.Alerts.Receiver(
            address: .file("/etc/eegsync/phone.url"), headersFile: "/etc/eegsync/h", shape: .ntfy)
        let mail = Configuration.Alerts.Letter(
            receivers: ["a@example.org", "b@example.org"], sender: "pi@example.org", program: "/usr/bin/msmtp")
        #expect(
            alerts.ways == [
                .init(name: "phone", kind: .http(phone)), .init(name: "mail", kind: .mail(mail)),
                .init(name: "script", kind: .command(["/usr/local/bin/alert", "--loud"])),
                .init(name: "lamp", kind: .led(.init(name: "ACT", trigger: "timer"))),
            ])
        #expect(
            alerts.rules.map(\.condition) == [
                .noSamples, .batteryBelow(percent: 30), .batteryBelow(percent: 10), .contactBad(channels: 2),
                .gapRate(percent: 1.5), .diskDays(0.5), .restarts(count: 5, within: .seconds(86_400)),
                .temperature(celsius: 70), .undervoltage,
            ])
        let first = alerts.rules[0]
        #expect(first.holding == .seconds(120) && first.clearing == .seconds(30))
        #expect(first.headsets == ["left"] && first.ways == ["phone", "lamp"])
        #expect(alerts.rules[1].name == "half-empty" && alerts.rules[1].severity == .critical)
    }

    @Test(arguments: [
        ("rules: [{when: no_sample}]", "alerts.rules[0].when: 'no_sample' is not one of the words; did you mean 'no_samples'?"),
        ("rules: [{percent: 5}]", "alerts.rules[0]: 'when' is missing"),
        ("rules: [{when: no_samples, percent: 5}]", "alerts.rules[0].percent: unknown key"),
        (
            "rules: [{when: no_samples, for_seconds: 1}]",
            "alerts.rules[0].for_seconds: 1 is out of range; allowed is 10 ... 604800 s"
        ),
        ("rules: [{when: no_samples, headsets: [lefd]}]", "there is no headset 'lefd'; did you mean 'left'?"),
        ("rules: [{when: disk_days, headsets: [left]}]", "alerts.rules[0].headsets: unknown key"),
        ("rules: [{when: undervoltage}, {when: undervoltage}]", "the name 'undervoltage' is taken by another rule"),
        (
            "rules: [{when: undervoltage, ways: [fhone]}]",
            "alerts.rules[0].ways[0]: there is no way 'fhone'; did you mean 'phone'?"
        ),
        ("rules: [no_samples]", "alerts.rules[0]: 'no_samples' is not a mapping; allowed is {when: no_samples}"),
        ("repeat_hour: 3", "alerts.repeat_hour: unknown key; did you mean 'repeat_hours'?"),
        ("repeat_hours: -1", "alerts.repeat_hours: -1 is out of range"),
    ]) func aSlipInARuleIsNamed(text: String, complaint: String) {
        let all = complaints("alerts: {ways: [{name: phone, kind: http, url: 'http://x/'}], \(text)}")
        #expect(all.count == 1 && all.first?.contains(complaint) == true, "\(all)")
    }

    @Test(arguments: [
        ("{kind: htttp, url: 'http://x/'}", "alerts.ways[0].kind: 'htttp' is no way; did you mean 'http'?"),
        ("{name: a}", "alerts.ways[0]: 'kind' is missing"),
        ("{kind: http}", "alerts.ways[0]: 'url' is missing"),
        ("{kind: http, url: 'ftp://x/'}", "alerts.ways[0].url: 'ftp://x/' is no address"),
        ("{kind: http, url: 'http://x/', url_file: /a}", "alerts.ways[0].url: there is a 'url_file', too"),
        ("{kind: http, url_file: a}", "alerts.ways[0].url_file: 'a' is not the absolute path of a file"),
        ("{kind: http, url: 'https://ntfy.sh', shape: ntfy}", "alerts.ways[0].url: the URL has no topic"),
        (
            "{kind: http, url: 'http://x/', shape: slak}",
            "alerts.ways[0].shape: 'slak' is not one of the words; did you mean 'slack'?"
        ),
        ("{kind: command, command: [alert]}", "alerts.ways[0].command: the program is not named by an absolute path"),
        ("{kind: mail, to: -oQ/tmp}", "alerts.ways[0].to: '-oQ/tmp' is no mail address"),
        ("{kind: mail, to: []}", "alerts.ways[0].to: nobody is named"),
        ("{kind: led, led: ../../x}", "alerts.ways[0].led: '../../x' is no name"),
        ("{kind: led, led: ACT, url: 'http://x/'}", "alerts.ways[0].url: unknown key"),
    ]) func aSlipInAWayIsNamed(text: String, complaint: String) {
        let all = complaints("alerts: {ways: [\(text)]}")
        #expect(all.count == 1 && all.first?.contains(complaint) == true, "\(all)")
    }

    /// The commented example of the installed configuration is right once its comment signs are taken away.
    @Test func theExampleInTheInstalledFileIsAccepted() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Deploy/eegsync.yaml").standardized.path
        let lines = try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n")
        let example = lines.drop { $0 != "# alerts:" }.prefix { $0.hasPrefix("#") }.map { String($0.dropFirst(2)) }
        let alerts = try #require(try alerts(example.joined(separator: "\n")))
        #expect(Set(alerts.ways.map(\.kind.word)) == ["command", "http", "mail", "led"])
        #expect(Set(alerts.rules.map(\.condition.kind)) == Set(AlertCondition.Kind.allCases))
    }

    @Test func alertsThatAreWrongKeepNobodyFromRecordingAndAreSaid() throws {
        let text = EegsyncTests.configuration(more: "alerts: {ways: [{kind: http, url: nowhere}], rule: []}")
        let configuration = try parse(text)
        #expect(configuration.headsets.map(\.name) == ["left"] && configuration.alerts == nil)
        let sentence = try #require(configuration.alertsSentence)
        #expect(sentence.hasPrefix("nobody is notified") && sentence.contains("nowhere") && sentence.hasSuffix(", and 1 more"))
        var facts = HostFacts()
        facts.alertsProblem = sentence
        let finding = try #require(Diagnosis.findings(of: facts).first { $0.check == "alerts" })
        #expect(finding.verdict == .problem && finding.remedy?.contains("eegsync alerts list") == true)
    }

    @Test func alertsThatAreWrongBesideSomethingElseAreRefusedWithIt() throws {
        let text = EegsyncTests.configuration(headset: "{name: left, model: mus}", more: "alerts: {rule: []}")
        #expect(throws: ConfigurationError.self) { try parse(text) }
        #expect(problems(text).count == 2)
    }

    @Test func aKeyThatOnlyBeginsLikeAlertsIsNoMatterOfAlertsAlone() {
        #expect(throws: ConfigurationError.self) { try parse(configuration(more: "alertz: {}")) }
    }
}
