import Acquisition
import Foundation
import Tap

extension Failure {
    /// Why nothing can be read from the tap.
    init(tap error: TapConnectionError) {
        switch error {
        case .nobodyListens(let path):
            self.init(
                problem: "nobody offers a tap at \(path).", consequence: "nothing is shown.",
                remedy: "start the daemon (systemctl start eegsync), or say where its tap is (--socket).", code: .unavailable)
        case .notPermitted(let path):
            self.init(
                problem: "this user may not read the tap at \(path): that is for members of the group eegsync.",
                consequence: "nothing is shown.",
                remedy: "join it: sudo usermod -aG eegsync $USER; then log in again (or: newgrp eegsync).", code: .noPermission)
        case .system(let path, let code):
            self.init(
                problem: "the tap at \(path) cannot be read: \(String(cString: strerror(code))).",
                consequence: "nothing more is shown; the recording goes on.", remedy: "try again.", code: .osError)
        case .format(let path, let error):
            self.init(
                problem: "what comes from \(path) cannot be read: \(error).",
                consequence: "nothing more is shown; the recording goes on.",
                remedy: "run the version of eegsync that the daemon has (systemctl restart eegsync after an upgrade).",
                code: .dataError)
        }
    }

    /// The daemon ended, or let this reader go.
    static func tapEnded(path: String) -> Failure {
        Failure(
            problem: "the tap at \(path) has ended: the daemon ended, or this reader did not keep up.",
            consequence: "nothing more is shown; what is recorded is in the database.",
            remedy: "run it again; `eegsync status` shows whether the daemon records.", code: .temporary)
    }
}
