import Alerts
import YAMLReading

extension Configuration {
    /// Who is notified of what, and how; what `eegsync alerts` does.
    struct Alerts: Hashable, Sendable {
        /// What is watched, in the order of the file; names are unique.
        var rules = AlertRule.standard
        /// How people are notified, in the order of the file; names are unique.
        var ways: [Way] = []
        /// After how long people are notified again of what lasts; nil (0 in the file) for never.
        var repeating: Duration? = .seconds(6 * 3600)
    }
}

extension Configuration.Alerts {
    /// One way to notify people.
    struct Way: Hashable, Sendable {
        var name: String
        var kind: Kind
    }

    /// What a way does with a message.
    enum Kind: Hashable, Sendable {
        /// Runs a program, with the message as JSON on its standard input and in its environment.
        case command([String])
        /// Sends it with HTTP POST.
        case http(Receiver)
        /// Gives it to a program that takes letters as sendmail does.
        case mail(Letter)
        /// Lights a lamp of the machine while an alert lasts.
        case led(Lamp)

        /// The word that the configuration has for it.
        var word: String {
            switch self {
            case .command: "command"
            case .http: "http"
            case .mail: "mail"
            case .led: "led"
            }
        }
    }

    /// Something that takes messages over HTTP.
    struct Receiver: Hashable, Sendable {
        /// Where it is.
        enum Address: Hashable, Sendable {
            case url(String)
            /// In a file that only its owner may read, for a URL that is a secret.
            case file(String)
        }

        var address: Address
        /// A file of header lines that only its owner may read; nil for none.
        var headersFile: String?
        var shape = MessageShape.json
    }

    /// A letter's head.
    struct Letter: Hashable, Sendable {
        var receivers: [String]
        /// Nil leaves it to the program.
        var sender: String?
        /// The program; Debian's mail servers all have it there.
        var program = "/usr/sbin/sendmail"
    }

    /// A lamp of `/sys/class/leds`.
    struct Lamp: Hashable, Sendable {
        /// Its name there, such as `ACT`.
        var name: String
        /// The kernel's trigger that makes it blink, such as `timer`; nil for steady light.
        var trigger: String?
    }
}

extension Configuration {
    /// What a person must hear of alerts that are wrong; nil where they are right.
    var alertsSentence: String? {
        guard case .wrong(let file, let error)? = alertsError else { return nil }
        let more = error.problems.count > 1 ? ", and \(error.problems.count - 1) more" : ""
        return "nobody is notified when something goes wrong: 'alerts:' in \(file) is wrong: "
            + "\(error.problems.first?.description ?? "")\(more)"
    }

    /// What a person can do about that.
    static let alertsRemedy =
        "correct the file (`eegsync alerts list` names all that is wrong), then: systemctl restart eegsync-alerts"
}
