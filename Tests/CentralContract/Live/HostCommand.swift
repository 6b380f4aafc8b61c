import Glibc

/// What a person does at a terminal of the machine.
enum HostCommand {
    /// Runs a program of the search path to its end. Returns what went wrong; nil for nothing.
    static func run(_ command: [String]) -> String? {
        let text = command.joined(separator: " ")
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        var process = pid_t()
        let code = posix_spawnp(&process, command[0], &actions, nil, &arguments, environ)
        guard code == 0 else { return "\(text): \(String(cString: strerror(code)))" }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            if errno != EINTR { return "\(text): \(String(cString: strerror(errno)))" }
        }
        return status == 0 ? nil : "\(text): wait status \(status)"
    }
}
