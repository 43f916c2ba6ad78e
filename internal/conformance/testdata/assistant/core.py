"""The genuine intent service of OpenVoiceOS on a bus, without skills."""
import threading

from ovos_bus_client import MessageBusClient
from ovos_core.intent_services.service import IntentService

bus = MessageBusClient()
bus.run_in_thread()
if not bus.connected_event.wait(60):
    raise SystemExit("there is no bus")
service = IntentService(bus)
threading.Event().wait()
