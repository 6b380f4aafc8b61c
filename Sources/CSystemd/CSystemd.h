// libsystemd (LGPL-2.1-or-later): notifications to the service manager, and D-Bus. Debian package libsystemd-dev.
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
