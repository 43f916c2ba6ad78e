package chatapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

// chatPart is one part of a message.
type chatPart struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Refusal string          `json:"refusal"`
	Image   json.RawMessage `json:"image_url"`
}

// partsOf reads the content of a message: a text, a list of parts, or nothing.
func partsOf(raw json.RawMessage, at string) ([]model.Part, *refusal) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil, nil
		}
		return []model.Part{{Text: text}}, nil
	}
	var list []chatPart
	if json.Unmarshal(raw, &list) != nil {
		return nil, invalid(at, "the content is a text or a list of parts")
	}
	var out []model.Part
	for i, p := range list {
		here := fmt.Sprintf("%s[%d]", at, i)
		switch p.Type {
		case "text", "input_text", "output_text":
			if p.Text != "" {
				out = append(out, model.Part{Text: p.Text})
			}
		case "refusal":
			if p.Refusal != "" {
				out = append(out, model.Part{Text: p.Refusal})
			}
		case "image_url":
			image, no := imageOf(p.Image, here+".image_url")
			if no != nil {
				return nil, no
			}
			out = append(out, image)
		default:
			return nil, invalid(here+".type", "parts of this type are not taken here; send text and image_url")
		}
	}
	return out, nil
}

// imageOf reads an image. Only what the client sends itself is taken: an address would have this
// server fetch something that nobody judged.
func imageOf(raw json.RawMessage, at string) (model.Part, *refusal) {
	var given struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(raw, &given.URL) != nil { // some clients send the address alone
		if json.Unmarshal(raw, &given) != nil {
			return model.Part{}, invalid(at, "the image has no url")
		}
	}
	rest, isData := strings.CutPrefix(given.URL, "data:")
	if !isData {
		return model.Part{}, invalid(at+".url", "this server fetches no images: send them as data:image/png;base64,…")
	}
	kind, data, ok := strings.Cut(rest, ";base64,")
	if !ok || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) {
		return model.Part{}, invalid(at+".url", "an image is a PNG, JPEG, GIF or WebP, as data:image/png;base64,…")
	}
	bytes, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(bytes) == 0 {
		return model.Part{}, invalid(at+".url", "the image is not written in base64")
	}
	return model.Part{Data: bytes, MIME: kind}, nil
}

func hasImage(parts []model.Part) bool {
	return slices.ContainsFunc(parts, func(p model.Part) bool { return p.Data != nil })
}
