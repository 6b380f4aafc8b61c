/// When something that a failing card would not give is read again: who tries for ever wears out a card on which the daemon
/// still records.
struct ReadingPause: Hashable {
    /// Rounds until the next try, after the first failure: two minutes. Twice as many each time.
    private static let shortest = 60
    /// The most: an hour.
    private static let longest = 1800

    /// The round from which on it is tried again.
    private(set) var end = 0
    private var rounds = 0

    /// Notes that it could not be read.
    mutating func extend(since round: Int) {
        rounds = rounds == 0 ? Self.shortest : min(rounds * 2, Self.longest)
        end = round + rounds
    }
}
