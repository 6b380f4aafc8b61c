import Headsets
import Storage

/// Annotations as the numbers that a marker column holds, in the order of their times.
///
/// A trigger has its code, and a text that is a whole number is that number. Other texts are counted, from above those: the
/// sidecar says which is which. As in the tools, a row has one marker, and a second one moves to the next row.
struct EventNumbers {
    /// The number of each text.
    private(set) var numbers: [String: Int64] = [:]
    private var pending: ArraySlice<(annotation: AnnotationContents, number: Int64)> = []

    init(_ annotations: [AnnotationContents]) {
        let given = annotations.map { $0.code ?? Int64($0.description) }
        var next = max(0, given.compactMap(\.self).max() ?? 0)
        var found: [(annotation: AnnotationContents, number: Int64)] = []
        for (annotation, given) in zip(annotations, given) {
            if let number = given ?? numbers[annotation.description] {
                found.append((annotation, number))
            } else {
                next += 1
                found.append((annotation, next))
            }
            numbers[annotation.description] = found.last?.number
        }
        pending = found[...]
    }

    /// How many were not in any row.
    var restCount: Int { pending.count }

    /// The number of the row of a sample; nil where nothing was said of it.
    ///
    /// - Parameter time: UTC nanoseconds since 1970, up to which annotations belong to this row.
    mutating func next(stream: JoinedStream, n: Int64, until time: Int64) -> Int64? {
        guard let first = pending.first else { return nil }
        if let sample = first.annotation.sample, stream.banks.contains(where: { $0.stream.id == sample.stream }) {
            guard sample.n <= n else { return nil }
        } else {
            guard first.annotation.onsetUnixNanoseconds <= time else { return nil }
        }
        return pending.removeFirst().number
    }

    /// The next annotation up to a time.
    mutating func nextAnnotation(until time: Int64) -> AnnotationContents? {
        guard let first = pending.first, first.annotation.onsetUnixNanoseconds <= time else { return nil }
        return pending.removeFirst().annotation
    }
}
