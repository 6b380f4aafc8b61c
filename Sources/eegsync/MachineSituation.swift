import Storage

/// That a database came from another machine, and nobody has said how.
struct MachineSituation: Hashable, Encodable {
    /// The machine that it came to, and the one before, by UUID.
    let machine: String
    let former: String
    /// Recordings that were asked for since.
    let recordings: Int

    /// Nil where there is nothing to ask.
    init?(_ machines: [Machine]) {
        guard let index = machines.firstIndex(where: { $0.origin == nil }), index > 0 else { return nil }
        (machine, former) = (machines[index].uuid, machines[index - 1].uuid)
        recordings = machines[index...].reduce(0) { $0 + $1.recordings }
    }

    init?(_ store: some Store) throws {
        try self.init(store.machines())
    }

    var sentence: String {
        "the database came from another machine: its card was moved here, or is a copy. It records as before; with other "
            + "machines it is not brought together until you say which"
    }

    var remedy: String {
        "where the machine before is out of use: eegsync machine moved; where it goes on with its own card: eegsync machine "
            + "copied"
    }

    private enum CodingKeys: String, CodingKey {
        case machine, former, recordings, sentence, remedy
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(machine, forKey: .machine)
        try container.encode(former, forKey: .former)
        try container.encode(recordings, forKey: .recordings)
        try container.encode(sentence, forKey: .sentence)
        try container.encode(remedy, forKey: .remedy)
    }
}
