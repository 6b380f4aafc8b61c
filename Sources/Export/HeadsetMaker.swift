/// Who makes a model of headset, as their own pages write it.
enum HeadsetMaker: String {
    case interaxon = "InteraXon"
    case openBCI = "OpenBCI"
    case neuroSky = "NeuroSky"
    case reak = "RE-AK Technologies"
    case gtec = "g.tec"
    case mentalab = "Mentalab"

    /// The maker of a model that names one; a descriptor's model has none.
    init?(model: String) {
        switch model {
        case let muse where muse.hasPrefix("muse"): self = .interaxon
        case "ganglion", "cyton", "cyton-ble": self = .openBCI
        case "thinkgear", "mindwave", "tgam": self = .neuroSky
        case "hermes": self = .reak
        case "unicorn": self = .gtec
        case "explore": self = .mentalab
        default: return nil
        }
    }
}
