/// What bluetoothd's ObjectManager has reported: every object with its interfaces and their properties.
///
/// A mirror, not a cache: it is loaded whole (GetManagedObjects) and then follows InterfacesAdded, InterfacesRemoved and
/// PropertiesChanged in the order of their arrival.
struct ObjectMirror {
    /// The properties of one interface of an object, by name.
    typealias Properties = [String: BusValue]

    private var objects: [String: [String: Properties]] = [:]

    /// The paths of all objects with the interface, in the order of their names, which for BlueZ is the order of handles.
    func paths(with interface: String) -> [String] {
        objects.compactMap { $0.value[interface] == nil ? nil : $0.key }.sorted()
    }

    /// The paths of all objects below another with the interface, in the order of their names.
    func paths(with interface: String, below parent: String) -> [String] {
        let prefix = parent + "/"
        return objects.compactMap { $0.key.hasPrefix(prefix) && $0.value[interface] != nil ? $0.key : nil }.sorted()
    }

    /// The properties of an interface of an object; nil where there is no such object or interface.
    func properties(of interface: String, at path: String) -> Properties? {
        objects[path]?[interface]
    }

    /// Forgets everything.
    mutating func removeAll() {
        objects.removeAll()
    }

    /// Takes the answer to GetManagedObjects (`a{oa{sa{sv}}}`) instead of all that was known.
    mutating func load(_ reply: BusValue?) {
        objects.removeAll()
        for object in reply?.entries ?? [] {
            guard let path = object.key.text else { continue }
            objects[path] = Self.interfaces(object.value)
        }
    }

    /// Takes a signal InterfacesAdded: object path, `a{sa{sv}}`. Returns the object and the names of its new interfaces.
    mutating func interfacesAdded(_ body: [BusValue]) -> (path: String, interfaces: [String])? {
        guard body.count >= 2, let path = body[0].text else { return nil }
        let added = Self.interfaces(body[1])
        objects[path, default: [:]].merge(added) { $1 }
        return (path, added.keys.sorted())
    }

    /// Takes a signal InterfacesRemoved: object path, `as`. Returns the object and the names of the interfaces it lost.
    mutating func interfacesRemoved(_ body: [BusValue]) -> (path: String, interfaces: [String])? {
        guard body.count >= 2, let path = body[0].text, let names = body[1].texts else { return nil }
        for name in names { objects[path]?[name] = nil }
        if objects[path]?.isEmpty == true { objects[path] = nil }
        return (path, names)
    }

    /// Takes a signal PropertiesChanged of an object: interface, `a{sv}`, `as`. Returns what changed; nil for an object that
    /// is not known, which then will be added in due course.
    mutating func propertiesChanged(_ body: [BusValue], at path: String) -> (interface: String, changed: Properties)? {
        guard body.count >= 3, let interface = body[0].text, objects[path]?[interface] != nil else { return nil }
        let changed = Self.properties(body[1])
        objects[path]?[interface]?.merge(changed) { $1 }
        for name in body[2].texts ?? [] { objects[path]?[interface]?[name] = nil }
        return (interface, changed)
    }

    /// Takes the answer to GetAll (`a{sv}`) instead of what was known of an interface of a known object.
    mutating func load(_ reply: BusValue?, of interface: String, at path: String) {
        guard let reply, objects[path]?[interface] != nil else { return }
        objects[path]?[interface] = Self.properties(reply)
    }

    /// Sets a property of which the signal is still under way.
    mutating func set(_ property: String, of interface: String, at path: String, to value: BusValue) {
        objects[path]?[interface]?[property] = value
    }

    private static func interfaces(_ value: BusValue) -> [String: Properties] {
        var result: [String: Properties] = [:]
        for entry in value.entries ?? [] {
            if let name = entry.key.text { result[name] = properties(entry.value) }
        }
        return result
    }

    private static func properties(_ value: BusValue) -> Properties {
        var result: Properties = [:]
        for entry in value.entries ?? [] {
            if let name = entry.key.text { result[name] = entry.value.unwrapped }
        }
        return result
    }
}
