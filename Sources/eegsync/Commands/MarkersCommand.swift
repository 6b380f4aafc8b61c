import ArgumentParser
import Foundation
import Glibc
import KernelBluetooth
import Synchronization

/// `eegsync markers`: marks from stimulus programs, by UDP or a local socket.
struct MarkersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "markers",
        abstract: "Take markers of stimulus programs from UDP or a local socket, and write them as marks.",
        discussion: """
            A message holds a line for each marker: the text, or a JSON object with text and, where wanted, headset, \
            duration_seconds and seconds_ago. Each becomes an annotation of the recordings that run, as `eegsync mark` writes \
            it, at the instant at which the kernel got the message, less seconds_ago.

            Without --udp and --socket it takes what the configuration says under markers:. It disturbs no recording and may \
            be killed at any time. Runs until it is ended.

            EXAMPLES
              eegsync markers --udp 127.0.0.1:9581
              echo "lights out" | nc -u -q 0 127.0.0.1 9581
              eegsync markers --socket /run/user/1000/markers
            """)

    @Option(
        help: ArgumentHelp("Take messages at this address and port, such as 127.0.0.1:9581.", valueName: "address:port"))
    var udp: ListenAddress?

    @Option(help: ArgumentHelp("Take messages at this path: a local socket of datagrams.", valueName: "path"))
    var socket: String?

    @OptionGroup var options: DatabaseOptions

    /// How long is waited for a message before the clocks are compared again, in milliseconds.
    private static let compareMilliseconds: Int32 = 500
    /// A message is read within this time, or was kept by a process that was stopped: so old are stamps that are believed.
    private static let mostAge: Int64 = 30_000_000_000

    /// How long the last marks may take, in seconds: less than the unit waits before it kills.
    private static let finishSeconds = 30.0

    func run() throws {
        let configured = (try? options.configurationIfPresent())?.markers
        let isGiven = udp != nil || socket != nil
        let sockets =
            try [isGiven ? udp : configured?.udp].compactMap(\.self).map { try MarkerSocket(udp: $0) }
            + [isGiven ? socket : configured?.socket].compactMap(\.self).map { try MarkerSocket(path: $0) }
        guard !sockets.isEmpty else { throw Self.nowhere }
        let writer = MarkWriter(options, log: Self.say)
        Self.say("takes markers at \(sockets.map(\.name).joined(separator: " and "))")
        if let address = isGiven ? udp : configured?.udp, !address.isLoopback {
            Self.say("everybody who reaches this machine there can mark")
        }
        let ending = Ending()
        var refusal = RefusedLines(log: Self.say)
        var clock = ArrivalClock(mostAge: Self.mostAge)
        clock.readClocks()
        func take() {
            for socket in sockets {
                while let message = socket.next(&clock) {
                    for result in message.marks {
                        switch result {
                        case .success(let mark): writer.write(mark)
                        case .failure(let error): refusal.note(error, from: socket.name, at: HostClock.now)
                        }
                    }
                }
            }
        }
        while !ending.isWanted {
            var polled = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            if poll(&polled, nfds_t(polled.count), Self.compareMilliseconds) <= 0 { clock.readClocks() }
            take()
            refusal.sayRest(at: HostClock.now)
        }
        take()
        refusal.sayRest(at: nil)
        // What has arrived is written, also what came right before the end.
        writer.finish(within: Self.finishSeconds)
    }

    private static var nowhere: Failure {
        Failure(
            problem: "it is not said where markers come from.", consequence: "nothing was started.",
            remedy: "give --udp 127.0.0.1:9581 or --socket PATH, or write them under markers: in the configuration.",
            code: .usage)
    }

    @Sendable private static func say(_ line: String) {
        StandardError.write("eegsync markers: \(line.printable)\n")
    }
}

/// Whether SIGINT or SIGTERM has asked for the end.
private struct Ending {
    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    private let flag: Flag
    private let sources: [any DispatchSourceSignal]

    init() {
        let flag = Flag()
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in flag.isSet.withLock { $0 = true } }
            source.resume()
            return source
        }
        self.flag = flag
    }

    var isWanted: Bool { flag.isSet.withLock { $0 } }
}

extension MarkerSocket.Message {
    /// The mark of each line; of two lines of one message, the later one is a nanosecond later.
    var marks: [Result<MarkLine, MarkLineError>] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if isCut { lines.removeLast() }
        let marks = lines.filter { line in
            line.contains { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 && $0 != 0 }
        }.enumerated().map { index, line in
            Result { () throws(MarkLineError) in
                var mark = try MarkLine(line)
                // The clock of another machine says nothing here.
                if mark.boottime != nil { throw MarkLineError("it holds boottime, which only this machine knows") }
                mark = mark.placed(arrival)
                mark.boottime = mark.boottime.map { max(0, $0) + Int64(index) }
                return mark
            }
        }
        return isCut ? marks + [.failure(Self.cut)] : marks
    }

    private static let cut = MarkLineError(
        "its message has more than \(MarkerSocket.byteMaximum) bytes: of what follows the line before, nothing is taken")
}
