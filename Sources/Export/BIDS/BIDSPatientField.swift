import Glibc
import Storage

/// The name and the birthdate of the subject stay out of a dataset, which is made to be given away: in the header of its files
/// stand the code, the sex and the hand.
enum BIDSPatientField {
    /// Where the field begins (EDF specification: after eight bytes of version), and its length.
    private static let offset = 8
    private static let width = 80

    /// Writes the field of a file that has just been written and checked.
    static func clear(in path: String, of contents: RecordingContents) throws {
        var anonymous = contents
        for field in [RecordingField.subjectName, .subjectBirthdate] { anonymous.provenance.fields[field.name] = nil }
        guard anonymous != contents else { return }
        let bytes = EDFField.bytes(EDFHeader.patient(anonymous), width: width)
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { if file >= 0 { close(file) } }
        guard file >= 0, pwrite(file, bytes, bytes.count, offset) == bytes.count, fsync(file) == 0 else {
            throw ExportError.cannotWrite(path: path, reason: String(cString: strerror(errno)))
        }
    }
}
