"""Runs the genuine PHAL plugin for tools on a bus: its port and the settings of the plugin are given."""
import json
import sys
import time

from ovos_bus_client import MessageBusClient

bus = MessageBusClient(host="127.0.0.1", port=int(sys.argv[1]), route="/core")
bus.run_in_thread()
if not bus.connected_event.wait(60):
    sys.exit("there is no bus")

from ovos_phal_plugin_tools import OVOSToolsPHALPlugin  # noqa: E402

plugin = OVOSToolsPHALPlugin(bus=bus, config=json.loads(sys.argv[2]))
print("it has the tools", *sorted(plugin._tool_registry), file=sys.stderr, flush=True)
while True:
    time.sleep(1)
