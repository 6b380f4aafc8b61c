import Bluetooth
import BluetoothManagement
import Glibc

/// Looks at the adapters, through `/sys` and the kernel's management channel. Neither needs a privilege.
struct AdapterInspection {
    let files: SystemFiles
    /// How long the kernel has to answer a command; it answers at once.
    private static let replyMilliseconds: Int32 = 500

    /// The kernel's half of Bluetooth.
    ///
    /// - Parameter asksKernel: false for what the files say alone.
    func facts(asksKernel: Bool = true) -> HostFacts.Bluetooth {
        var facts = HostFacts.Bluetooth()
        facts.adapters = files.names(in: "/sys/class/bluetooth").compactMap { name in
            // Links are listed beside adapters, as `hci0:64`.
            ControllerIndex(name: name).map { _ in HostFacts.Adapter(name: name, block: block(of: name)) }
        }
        guard asksKernel else { return facts }
        let lock = AdapterLock(respect: .everybody)
        for index in facts.adapters.indices {
            facts.adapters[index].holder = lock.holder(of: facts.adapters[index].name)?.pid
        }
        do throws(ManagementError) {
            let socket = try ManagementSocket()
            for index in facts.adapters.indices { try ask(socket, &facts.adapters[index]) }
        } catch {
            facts.managementError = "\(error)"
        }
        return facts
    }

    /// The entry of rfkill that carries the adapter's name.
    private func block(of adapter: String) -> HostFacts.RadioBlock {
        let directory = "/sys/class/rfkill"
        for entry in files.names(in: directory) where files.text("\(directory)/\(entry)/name") == adapter {
            if files.text("\(directory)/\(entry)/hard") == "1" { return .hard }
            if files.text("\(directory)/\(entry)/soft") == "1" { return .soft }
        }
        return .none
    }

    private func ask(_ socket: ManagementSocket, _ adapter: inout HostFacts.Adapter) throws(ManagementError) {
        guard let index = ControllerIndex(name: adapter.name) else { return }
        if case .controllerInformation(let information)? = try reply(socket, .readControllerInformation(index)) {
            adapter.address = information.address.addressDescription
            adapter.bluetoothVersion = information.bluetoothVersion
            adapter.isPowered = information.currentSettings.contains(.powered)
            adapter.hasLowEnergy = information.supportedSettings.contains(.lowEnergy)
        }
        if case .defaultConnectionParameters(let parameters)? = try reply(socket, .readDefaultSystemConfiguration(index)) {
            adapter.defaultParameters = parameters
        }
    }

    /// The contents of the reply to a command; nil where the kernel refuses or is silent.
    private func reply(
        _ socket: ManagementSocket, _ command: ManagementCommand
    ) throws(ManagementError) -> ManagementReply.Contents? {
        try socket.send(command)
        while true {
            guard let event = try socket.receive() else {
                var waited = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&waited, 1, Self.replyMilliseconds) <= 0 { return nil }
                continue
            }
            if case .reply(let reply) = event, reply.opcode == command.opcode, reply.index == command.index {
                return try? reply.result.get()
            }
        }
    }
}
