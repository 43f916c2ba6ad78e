package modeltest

import "fmt"

// failure is how a service says that it did not work: its status and its body.
func failure(api, kind string) (int, string) {
	switch api {
	case "openai":
		return openaiFailure(kind)
	case "anthropic":
		return anthropicFailure(kind)
	}
	return geminiFailure(kind)
}

func openaiFailure(kind string) (int, string) {
	say := func(status int, message, typ, param, code string) (int, string) {
		return status, fmt.Sprintf(`{"error":{"message":%s,"type":%s,"param":%s,"code":%s}}`, quote(message), quote(typ), param, code)
	}
	switch kind {
	case RateLimit:
		return say(429, "Rate limit reached for scripted in organization org-1 on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.", "requests", "null", `"rate_limit_exceeded"`)
	case Overloaded:
		return say(503, "The engine is currently overloaded, please try again later", "server_error", "null", "null")
	case BadKey:
		return say(401, "Incorrect API key provided: sk-bad***********key. You can find your API key at https://platform.openai.com/account/api-keys.", "invalid_request_error", "null", `"invalid_api_key"`)
	case TooLong:
		return say(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.", "invalid_request_error", `"messages"`, `"context_length_exceeded"`)
	case BadRequest:
		return say(400, "Invalid schema for function 'x': schema must be a JSON Schema of 'type: \"object\"'.", "invalid_request_error", `"tools[0].function.parameters"`, `"invalid_function_parameters"`)
	case NoModel:
		return say(404, "The model `nowhere` does not exist or you do not have access to it.", "invalid_request_error", "null", `"model_not_found"`)
	}
	return say(500, "The server had an error while processing your request. Sorry about that!", "server_error", "null", "null")
}

func anthropicFailure(kind string) (int, string) {
	say := func(status int, typ, message string) (int, string) {
		return status, fmt.Sprintf(`{"type":"error","error":{"type":%s,"message":%s},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}`, quote(typ), quote(message))
	}
	switch kind {
	case RateLimit:
		return say(429, "rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute.")
	case Overloaded:
		return say(529, "overloaded_error", "Overloaded")
	case BadKey:
		return say(401, "authentication_error", "invalid x-api-key")
	case TooLong:
		return say(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")
	case BadRequest:
		return say(400, "invalid_request_error", "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.")
	case NoModel:
		return say(404, "not_found_error", "model: nowhere")
	}
	return say(500, "api_error", "Internal server error")
}

func geminiFailure(kind string) (int, string) {
	say := func(code int, status, message, details string) (int, string) {
		return code, fmt.Sprintf("{\n  \"error\": {\n    \"code\": %d,\n    \"message\": %s,\n    \"status\": %s%s\n  }\n}\n", code, quote(message), quote(status), details)
	}
	switch kind {
	case RateLimit:
		return say(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.",
			`, "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]`)
	case Overloaded:
		return say(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "")
	case BadKey:
		return say(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
			`, "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com", "metadata": {"service": "generativelanguage.googleapis.com"}}]`)
	case TooLong:
		return say(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "")
	case BadRequest:
		return say(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name \"x\" at 'tools[0].function_declarations[0].parameters': Cannot find field.", "")
	case NoModel:
		return say(404, "NOT_FOUND", "models/nowhere is not found for API version v1beta, or is not supported for generateContent.", "")
	}
	return say(500, "INTERNAL", "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting", "")
}
