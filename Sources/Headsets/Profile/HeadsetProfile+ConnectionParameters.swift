package import Bluetooth

extension HeadsetProfile {
    /// What to ask of a link to a headset of the model, from how often it sends and how long it may be silent.
    package var connectionParameters: ConnectionParameters {
        ConnectionParameters(packetPeriod: timing.packetPeriod, silenceLimit: timing.silenceLimit)
    }
}
