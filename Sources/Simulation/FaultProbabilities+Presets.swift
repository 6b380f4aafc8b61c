extension FaultProbabilities {
    /// Nothing goes wrong.
    package static let none = FaultProbabilities()

    /// What a person sees in a week of recording at home, compressed into an hour.
    package static let everyday: FaultProbabilities = {
        var faults = FaultProbabilities()
        faults.outOfRange = Episode(perHour: 4, lasting: .seconds(5) ... .seconds(240))
        faults.silence = Episode(perHour: 0.5, lasting: .seconds(3) ... .seconds(20))
        faults.heldByOtherProgram = Episode(perHour: 0.2, lasting: .seconds(10) ... .seconds(60))
        faults.pairingMode = Episode(perHour: 0.5, lasting: .seconds(30) ... .seconds(120))
        faults.reboot = Episode(perHour: 0.5, lasting: .zero ... .zero)
        faults.lowPower = Episode(perHour: 0.3, lasting: .zero ... .zero)
        faults.rotatedAddress = Episode(perHour: 1, lasting: .zero ... .zero)
        faults.headsetDisconnect = Episode(perHour: 1, lasting: .zero ... .zero)
        faults.operatorDisconnect = Episode(perHour: 0.5, lasting: .zero ... .zero)
        faults.adapterOff = Episode(perHour: 0.3, lasting: .seconds(5) ... .seconds(60))
        faults.radioBlocked = Episode(perHour: 0.2, lasting: .seconds(5) ... .seconds(60))
        faults.adapterVanished = Episode(perHour: 0.2, lasting: .seconds(1) ... .seconds(20))
        faults.systemRestarted = Episode(perHour: 0.3, lasting: .seconds(1) ... .seconds(5))
        faults.daemonKilled = Episode(perHour: 1, lasting: .milliseconds(100) ... .seconds(20))
        faults.wallClockStep = Episode(perHour: 0.5, lasting: .milliseconds(50) ... .seconds(3600))
        faults.slowCommit = Episode(perHour: 1, lasting: .milliseconds(500) ... .seconds(5))
        faults.databaseBusy = Episode(perHour: 0.5, lasting: .milliseconds(100) ... .seconds(10))
        faults.daemonEnded = Episode(perHour: 0.5, lasting: .seconds(1) ... .seconds(10))
        faults.slowConnect = 0.1
        faults.connectFailure = 0.05
        faults.lostConnect = 0.02
        faults.discoveryFailure = 0.02
        faults.writeError = 0.01
        faults.notifyError = 0.01
        faults.lateReply = 0.01
        faults.duplicatedNotification = 0.0005
        faults.reorderedNotification = 0.0005
        faults.lostNotification = 0.001
        faults.lostChannelPacket = 0.001
        faults.statusUnanswered = 0.02
        faults.malformedNotification = 0.0002
        return faults
    }()

    /// Far worse than reality: every fault often, so that a short run meets combinations of them.
    package static let storm: FaultProbabilities = {
        var faults = everyday
        faults.outOfRange = Episode(perHour: 40, lasting: .milliseconds(300) ... .seconds(60))
        faults.silence = Episode(perHour: 10, lasting: .seconds(1) ... .seconds(30))
        faults.heldByOtherProgram = Episode(perHour: 6, lasting: .seconds(1) ... .seconds(30))
        faults.pairingMode = Episode(perHour: 6, lasting: .seconds(5) ... .seconds(120))
        faults.noServiceAdvertised = Episode(perHour: 3, lasting: .seconds(5) ... .seconds(60))
        faults.reboot = Episode(perHour: 10, lasting: .zero ... .zero)
        faults.lowPower = Episode(perHour: 5, lasting: .zero ... .zero)
        faults.rotatedAddress = Episode(perHour: 10, lasting: .zero ... .zero)
        faults.staleAddress = Episode(perHour: 3, lasting: .zero ... .zero)
        faults.headsetDisconnect = Episode(perHour: 20, lasting: .zero ... .zero)
        faults.operatorDisconnect = Episode(perHour: 5, lasting: .zero ... .zero)
        faults.servicesChanged = Episode(perHour: 4, lasting: .zero ... .zero)
        faults.adapterOff = Episode(perHour: 4, lasting: .seconds(1) ... .seconds(20))
        faults.radioBlocked = Episode(perHour: 4, lasting: .seconds(1) ... .seconds(20))
        faults.adapterVanished = Episode(perHour: 4, lasting: .milliseconds(100) ... .seconds(10))
        faults.systemRestarted = Episode(perHour: 4, lasting: .milliseconds(300) ... .seconds(5))
        faults.daemonKilled = Episode(perHour: 20, lasting: .milliseconds(50) ... .seconds(20))
        faults.wallClockStep = Episode(perHour: 6, lasting: .milliseconds(1) ... .seconds(86_400))
        faults.slowCommit = Episode(perHour: 20, lasting: .milliseconds(100) ... .seconds(10))
        faults.diskFull = Episode(perHour: 4, lasting: .seconds(1) ... .seconds(60))
        faults.databaseBusy = Episode(perHour: 10, lasting: .milliseconds(100) ... .seconds(20))
        faults.flushRefused = Episode(perHour: 6, lasting: .seconds(1) ... .seconds(60))
        faults.daemonEnded = Episode(perHour: 10, lasting: .milliseconds(50) ... .seconds(20))
        faults.slowConnect = 0.2
        faults.connectFailure = 0.15
        faults.lostConnect = 0.1
        faults.unknownPeripheral = 0.3
        faults.silentRestoration = 0.2
        faults.silentRetrieval = 0.2
        faults.silentScan = 0.1
        faults.discoveryFailure = 0.1
        faults.writeError = 0.05
        faults.notifyError = 0.05
        faults.lateReply = 0.05
        faults.duplicatedNotification = 0.01
        faults.reorderedNotification = 0.01
        faults.lostNotification = 0.01
        faults.lostChannelPacket = 0.01
        faults.statusUnanswered = 0.15
        faults.malformedNotification = 0.01
        return faults
    }()
}
