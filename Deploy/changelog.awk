# Writes CHANGELOG.md as Debian's changelog.gz wants it: one entry, since all changes so far are of one version, in 80 columns.
# Variables: version, date (RFC 5322), maintainer.
function wrap(text, words, count, i, line) {
    if (text == "") return
    count = split(text, words, " ")
    line = "  *"
    for (i = 1; i <= count; i++) {
        if (length(line) + 1 + length(words[i]) > 79) {
            print line
            line = "   "
        }
        line = line " " words[i]
    }
    print line
}
BEGIN { printf "eegsync (%s) unstable; urgency=medium\n\n", version }
/^- / { wrap(item); item = substr($0, 3); next }
/^  / { item = item " " substr($0, 3) }
END { wrap(item); printf "\n -- %s  %s\n", maintainer, date }
