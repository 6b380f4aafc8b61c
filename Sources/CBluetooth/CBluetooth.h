// The kernel's Bluetooth socket addresses and constants, as libbluetooth-dev declares them. Headers only: libbluetooth itself
// (GPL-2.0) is not linked.
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <bluetooth/rfcomm.h>
