import Glibc

/// The nominal position of an electrode of the 10-20 system and its extension to 10 %, on a sphere.
///
/// Computed from the system's own definition (Jasper 1958; American Electroencephalographic Society 1991; Oostenveld and
/// Praamstra 2001): the lines from nasion over the vertex to inion and from ear to ear are cut at each tenth, of a sphere at
/// each 18 degrees; the circle through Fpz, T7, Oz and T8 likewise; other electrodes lie on the circle through the three of
/// their row that are known, at equal distances. No head was measured.
package struct ElectrodePosition: Hashable {
    /// To the right ear, to the nasion, to the vertex; in metres from the sphere's centre.
    package var x: Double
    package var y: Double
    package var z: Double

    /// Half of the breadth of an adult's head with its soft parts, roughly; where only directions are meant, any would do.
    package static let radius = 0.095

    /// The position of a name such as `Fp1` or `tp10`; nil for other names.
    package init?(_ name: String) {
        guard let direction = Self.directions[Self.renamed[name.lowercased()] ?? name.lowercased()] else { return nil }
        (x, y, z) = (direction.x * Self.radius, direction.y * Self.radius, direction.z * Self.radius)
    }

    private typealias Direction = (x: Double, y: Double, z: Double)

    /// The four names that the extended system gave other names.
    private static let renamed = ["t3": "t7", "t4": "t8", "t5": "p7", "t6": "p8"]

    /// Rows from front to back: the name, the angle of its middle from the vertex (to the front is positive), and the azimuth
    /// of its outermost electrode (7 and 8) from the front, in degrees.
    private static let rows: [(name: String, middle: Double, outer: Double, outerName: String)] = [
        ("af", 54, 36, "af"), ("f", 36, 54, "f"), ("fc", 18, 72, "ft"), ("c", 0, 90, "t"), ("cp", -18, 108, "tp"),
        ("p", -36, 126, "p"), ("po", -54, 144, "po"),
    ]

    private static let directions: [String: Direction] = {
        var all: [String: Direction] = [:]
        // The circle at a tenth above nasion, ears and inion.
        all["fpz"] = direction(polar: 72, azimuth: 0)
        all["oz"] = direction(polar: 72, azimuth: 180)
        for (left, right, azimuth) in [("fp1", "fp2", 18.0), ("o1", "o2", 162)] {
            all[left] = direction(polar: 72, azimuth: -azimuth)
            all[right] = direction(polar: 72, azimuth: azimuth)
        }
        // A tenth below that circle: the electrodes behind and in front of the ears, and the inion.
        for (left, right, azimuth) in [
            ("f9", "f10", 54.0), ("ft9", "ft10", 72), ("t9", "t10", 90), ("tp9", "tp10", 108), ("p9", "p10", 126),
        ] {
            all[left] = direction(polar: 90, azimuth: -azimuth)
            all[right] = direction(polar: 90, azimuth: azimuth)
        }
        all["iz"] = direction(polar: 90, azimuth: 180)
        for row in rows {
            let middle = direction(polar: row.middle, azimuth: 0)
            all[row.name + "z"] = middle
            let right = direction(polar: 72, azimuth: row.outer)
            for step in 1...4 {
                let point = onCircle(from: middle, to: right, fraction: Double(step) / 4)
                let name = step == 4 ? row.outerName : row.name
                all["\(name)\(2 * step)"] = point
                all["\(name)\(2 * step - 1)"] = (-point.x, point.y, point.z)
            }
        }
        return all
    }()

    private static func direction(polar: Double, azimuth: Double) -> Direction {
        let (polar, azimuth) = (polar * .pi / 180, azimuth * .pi / 180)
        return (sin(polar) * sin(azimuth), sin(polar) * cos(azimuth), cos(polar))
    }

    /// A part of the way from the middle of a row to its right end, on the circle through both and the left end. The circle
    /// lies in a plane that holds the direction of x, so it is seen from its centre by one angle.
    private static func onCircle(from middle: Direction, to right: Direction, fraction: Double) -> Direction {
        // In the plane: x, and the distance along the line from the middle to the chord's centre.
        let (down, up) = (right.y - middle.y, right.z - middle.z)
        let depth = (down * down + up * up).squareRoot()
        let radius = (right.x * right.x + depth * depth) / (2 * depth)
        let angle = atan2(right.x, radius - depth) * fraction
        let along = radius * (1 - cos(angle)) / depth
        return (radius * sin(angle), middle.y + down * along, middle.z + up * along)
    }
}
