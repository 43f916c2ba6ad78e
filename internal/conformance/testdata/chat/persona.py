"""A genuine persona of OpenVoiceOS with its OpenAI plugin: what it says, as JSON."""
import json
import sys

base, token, model = sys.argv[1:4]

from ovos_bus_client.session import Session
from ovos_persona import Persona

persona = Persona("toolcrib", {
    "name": "toolcrib",
    "handlers": ["ovos-chat-openai-plugin"],
    "memory_module": None,
    "ovos-chat-openai-plugin": {
        "api_url": base, "key": token, "model": model, "max_tokens": 500,
        "system_prompt": "You are a voice assistant. Answer in one sentence.",
    },
})
session = Session("kitchen")
print(json.dumps({
    "whole": persona.chat(persona.get_messages("How much is 6 times 7?", session), session),
    "stream": list(persona.stream(persona.get_messages("How much is 6 times 7?", session), session)),
}))
