extension String {
    /// How many columns of a terminal the text takes: 2 for East Asian wide characters and emoji, 0 for marks that combine with
    /// the letter before them, 1 for the rest (Unicode Standard Annex 11, the common ranges).
    var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// At most so many columns of it, the last of them an ellipsis where something was left out.
    func shortened(to width: Int) -> String {
        guard displayWidth > width else { return self }
        var (kept, used) = ("", 0)
        for character in self {
            guard used + character.displayWidth <= width - 1 else { break }
            used += character.displayWidth
            kept.append(character)
        }
        return kept + "…"
    }

    /// True where some of it is written from right to left: Hebrew, Arabic and their relatives.
    var isRightToLeft: Bool {
        unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
            default: false
            }
        }
    }

    /// The text with what a terminal would obey (escape sequences, line ends, marks that turn the direction of writing) and
    /// what nobody can see replaced, for text that came from elsewhere: two names that look alike are alike. The zero-width
    /// joiner stays only between emoji, where it makes one picture of several.
    var printable: String {
        var result = String.UnicodeScalarView()
        var isAfterEmoji = false
        for scalar in unicodeScalars {
            let isJoiner = scalar == "\u{200D}" && isAfterEmoji
            result.append(scalar.isInvisible && !isJoiner ? "\u{FFFD}" : scalar)
            isAfterEmoji = scalar.properties.isEmoji && scalar.value > 0xFF || scalar == "\u{FE0F}" && isAfterEmoji
        }
        return String(result)
    }
}

extension Unicode.Scalar {
    /// True for controls, for format characters (general category Cf, with all that turn the direction of writing), for line
    /// and paragraph separators, and for letters without a shape (Default_Ignorable_Code_Point); variation selectors change a
    /// shape that is there.
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector
        }
    }
}

extension Character {
    fileprivate var displayWidth: Int {
        guard let first = unicodeScalars.first else { return 0 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
