"""Has genuine personas of OpenVoiceOS work with Toolcrib's tools.

It reads {"toolcrib": settings of the toolbox, "turns": what the brain says, "engines": names} and answers with a list of
{"heard": the last message that the brain was shown at each turn, "offered": tools, "answer": text}, one per engine.
"""
import json
import os
import sys

wire = os.dup(1)
os.dup2(2, 1)

import toolcrib_scripted_brain as brain  # noqa: E402
from ovos_bus_client.session import Session  # noqa: E402
from ovos_persona import Persona  # noqa: E402

asked = json.load(sys.stdin)
told = []
for engine in asked["engines"]:
    brain.heard.clear()
    brain.offered.clear()
    settings = {"brain": "scripted-brain", "scripted-brain": {"turns": asked["turns"], "native": engine != "ovos-react-loop"},
                "toolboxes": ["toolcrib"], "toolcrib": asked["toolcrib"]}
    persona = Persona("tester", {"name": "tester", "handlers": [engine], "memory_module": None, engine: settings})
    session = Session("kitchen")
    answer = persona.chat(persona.get_messages("Do it.", session), session)
    told.append({"heard": list(brain.heard), "offered": brain.offered[0], "answer": answer})
os.write(wire, json.dumps(told).encode())
