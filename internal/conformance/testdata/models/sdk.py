"""Asks a scripted model by the genuine SDK of an API, and prints what the SDK understood.

Arguments: the API, the base URL, and the names of scenarios, which are what is asked.
Each scenario is asked for a whole answer and for a stream. One line of JSON for each:
{"scenario", "stream", "text", "thought", "calls", "stop", "input", "output", "cached"},
or {"scenario", "stream", "error", "status", "message"}.
"""
import json
import sys

TOOL = {"type": "object", "properties": {"path": {"type": "string"}}}


def openai_ask(base, scenario, stream):
    import openai
    client = openai.OpenAI(base_url=base, api_key="k", max_retries=0)
    args = dict(model="scripted", messages=[{"role": "user", "content": scenario}],
                tools=[{"type": "function", "function": {"name": "read", "parameters": TOOL}}])
    try:
        if stream:
            # The SDK's own accumulator: what it does not understand it refuses.
            with client.chat.completions.stream(stream_options={"include_usage": True}, **args) as s:
                for _ in s:
                    pass
                r = s.get_final_completion()
        else:
            r = client.chat.completions.create(**args)
    except openai.LengthFinishReasonError as e:
        r = e.completion
    except openai.ContentFilterFinishReasonError:
        return {"text": None, "stop": "content_filter"}
    m = r.choices[0].message
    return {"text": m.content or "", "thought": getattr(m, "reasoning_content", None) or "",
            "calls": [{"id": c.id, "name": c.function.name, "arguments": json.loads(c.function.arguments)} for c in m.tool_calls or []],
            "stop": r.choices[0].finish_reason, "input": r.usage.prompt_tokens, "output": r.usage.completion_tokens,
            "cached": r.usage.prompt_tokens_details.cached_tokens}


def anthropic_ask(base, scenario, stream):
    import anthropic
    client = anthropic.Anthropic(base_url=base, api_key="k", max_retries=0)
    args = dict(model="scripted", max_tokens=100, messages=[{"role": "user", "content": scenario}],
                tools=[{"name": "read", "input_schema": TOOL}])
    if stream:
        with client.messages.stream(**args) as s:
            for _ in s:
                pass
            r = s.get_final_message()
    else:
        r = client.messages.create(**args)
    out = {"text": "", "thought": "", "calls": [], "stop": r.stop_reason, "output": r.usage.output_tokens,
           "input": r.usage.input_tokens + (r.usage.cache_read_input_tokens or 0) + (r.usage.cache_creation_input_tokens or 0),
           "cached": r.usage.cache_read_input_tokens or 0}
    for b in r.content:
        if b.type == "text":
            out["text"] += b.text
        elif b.type == "thinking":
            out["thought"] += b.thinking
            out["signature"] = b.signature
        elif b.type == "tool_use":
            out["calls"].append({"id": b.id, "name": b.name, "arguments": b.input})
    return out


def gemini_ask(base, scenario, stream):
    from google import genai
    from google.genai import types
    root, version = base.rsplit("/", 1)
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=root, api_version=version))
    args = dict(model="scripted", contents=scenario, config=types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[types.FunctionDeclaration(name="read", parameters_json_schema=TOOL)])]))
    chunks = list(client.models.generate_content_stream(**args)) if stream else [client.models.generate_content(**args)]
    out = {"text": "", "thought": "", "calls": []}
    for r in chunks:
        c = r.candidates[0]
        for p in (c.content.parts or []) if c.content else []:
            if p.function_call:
                out["calls"].append({"id": p.function_call.id, "name": p.function_call.name, "arguments": p.function_call.args})
                if p.thought_signature:
                    out["signature"] = p.thought_signature.decode()
            elif p.thought:
                out["thought"] += p.text
            else:
                out["text"] += p.text or ""
        if c.finish_reason:
            out["stop"] = c.finish_reason.value
        u = r.usage_metadata
        out.update(input=u.prompt_token_count, output=(u.candidates_token_count or 0) + (u.thoughts_token_count or 0), cached=u.cached_content_token_count or 0)
    return out


def main():
    api, base, scenarios = sys.argv[1], sys.argv[2], sys.argv[3:]
    ask = {"openai": openai_ask, "anthropic": anthropic_ask, "gemini": gemini_ask}[api]
    for scenario in scenarios:
        for stream in (False, True):
            line = {"scenario": scenario, "stream": stream}
            try:
                line.update(ask(base, scenario, stream))
            except Exception as e:  # every kind is told
                line.update(error=type(e).__name__, status=getattr(e, "status_code", None) or getattr(e, "code", None), message=str(e)[:500])
            print(json.dumps(line), flush=True)


main()
