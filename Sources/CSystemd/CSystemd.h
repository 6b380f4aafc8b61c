// libsystemd (LGPL-2.1-or-later): notifications to the service manager. Debian package libsystemd-dev.
#include <systemd/sd-daemon.h>
