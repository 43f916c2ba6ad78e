"""The genuine openai SDK against a chat endpoint: what it saw, as JSON."""
import json
import sys

import openai

base, token, model = sys.argv[1:4]
client = openai.OpenAI(base_url=base, api_key=token, max_retries=0)
seen = {"models": [m.id for m in client.models.list()]}
ask = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How much is 6 times 7?"}]

whole = client.chat.completions.create(model=model, messages=ask, temperature=0.1, max_tokens=200, user="anna")
seen["whole"] = [whole.choices[0].message.content, whole.choices[0].finish_reason, whole.usage.total_tokens, whole.object]

text, reasons, usage = "", [], None
for chunk in client.chat.completions.create(model=model, messages=ask, stream=True, stream_options={"include_usage": True}):
    if chunk.usage:
        usage = chunk.usage.total_tokens
    for choice in chunk.choices:
        text += choice.delta.content or ""
        if choice.finish_reason:
            reasons.append(choice.finish_reason)
seen["stream"] = [text, reasons, usage]

# The helper that puts a stream together refuses what is not exactly of the form.
with client.chat.completions.stream(model=model, messages=ask) as events:
    seen["helper"] = events.get_final_completion().choices[0].message.content

lamp = [{"type": "function", "function": {"name": "lamp", "description": "Switch the lamp.", "parameters": {
    "type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"], "additionalProperties": False}}}]
talk = [{"role": "user", "content": "Switch the lamp on."}]
called = client.chat.completions.create(model=model, messages=talk, tools=lamp)
call = called.choices[0].message.tool_calls[0]
seen["called"] = [called.choices[0].finish_reason, call.function.name, json.loads(call.function.arguments)]
talk += [called.choices[0].message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "It is on."}]
seen["after"] = client.chat.completions.create(model=model, messages=talk, tools=lamp).choices[0].message.content
with client.chat.completions.stream(model=model, messages=talk[:1], tools=lamp) as events:
    call = events.get_final_completion().choices[0].message.tool_calls[0]
seen["called_in_stream"] = [call.function.name, json.loads(call.function.arguments)]

told = client.chat.completions.create(model=model, messages=ask, extra_headers={"X-Toolcrib-Events": "1"})
seen["events"] = [e["event"] + " " + e["tool"] for e in told.toolcrib["events"]]


def refused(kind, **args):
    try:
        client.chat.completions.create(**({"model": model, "messages": ask} | args))
    except kind as e:
        return [type(e).__name__, e.status_code, e.param, e.code]
    return ["nothing"]


seen["refused"] = {
    "model": refused(openai.NotFoundError, model="../../etc/passwd"),
    "two": refused(openai.BadRequestError, n=2),
}
try:
    openai.OpenAI(base_url=base, api_key="wrong", max_retries=0).models.list()
except openai.AuthenticationError as e:
    seen["refused"]["token"] = [type(e).__name__, e.status_code, None, e.code]
print(json.dumps(seen))
