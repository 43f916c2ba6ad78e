package finder

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// service is one server of the made-up catalog: what it is and what it keeps.
type service struct {
	name, about string
	things      string // comma-separated, singular
}

func services() []service {
	return []service{
		{"github", "code hosting", "issue,pull request,repository,branch,release"},
		{"gitlab", "code hosting", "merge request,pipeline,project,runner"},
		{"jira", "issue tracking", "ticket,sprint,board,worklog"},
		{"slack", "team chat", "message,channel,reaction,reminder"},
		{"gmail", "electronic mail", "email,draft,label,attachment"},
		{"gcal", "calendars", "event,invitation,calendar"},
		{"notion", "notes and wikis", "page,database,comment"},
		{"gdrive", "file storage in the cloud", "document,folder,permission"},
		{"sheets", "spreadsheets", "worksheet,row,chart"},
		{"stripe", "payments", "invoice,customer,refund,subscription,payout"},
		{"shopify", "online shops", "order,product,discount,shipment"},
		{"hubspot", "customer relations", "contact,deal,company,campaign"},
		{"zendesk", "customer support", "support ticket,macro,article"},
		{"postgres", "a relational database", "table,index,query,backup"},
		{"redis", "a key-value store", "key,stream,lock"},
		{"s3", "object storage", "bucket,object,lifecycle rule"},
		{"kubernetes", "container orchestration", "pod,deployment,namespace,secret,node"},
		{"docker", "containers", "image,container,volume,network"},
		{"terraform", "infrastructure as code", "workspace,plan,state"},
		{"grafana", "monitoring", "dashboard,alert,panel"},
		{"sentry", "error tracking", "exception,release health report,alert rule"},
		{"dns", "domain names", "domain,record,certificate"},
		{"weather", "weather data", "forecast,storm warning,air quality report"},
		{"maps", "maps and routing", "route,place,travel time matrix"},
		{"flights", "air travel", "flight,booking,boarding pass"},
		{"hotels", "accommodation", "hotel,reservation,room rate"},
		{"stocks", "financial markets", "share quote,portfolio,dividend"},
		{"crypto", "digital currencies", "coin price,wallet,transfer"},
		{"news", "journalism", "headline,article,topic feed"},
		{"music", "music streaming", "song,playlist,album,artist"},
		{"video", "video hosting", "clip,transcript,live stream"},
		{"images", "pictures", "photo,drawing,thumbnail"},
		{"health", "personal health", "workout,meal,sleep record"},
		{"recipes", "cooking", "recipe,shopping list,meal plan"},
		{"jobs", "recruiting", "vacancy,application,interview"},
		{"hr", "human resources", "employee,leave request,payslip"},
		{"legal", "law", "statute,contract,court decision"},
		{"papers", "academic literature", "publication,citation,author profile"},
		{"translate", "languages", "translation,glossary,language profile"},
		{"home", "home automation", "lamp,thermostat,door lock,scene"},
		{"twitter", "social media", "post,follower,trend"},
	}
}

// verb is an operation, what it says, and the arguments it takes beside the thing.
type verb struct{ name, text string }

func verbs() []verb {
	return []verb{
		{"create", "Create a new %s in %s. Returns the %[1]s as it was stored, with its id."},
		{"list", "List every %s in %s that fits the filters, newest first, a page at a time."},
		{"update", "Change fields of a %s in %s. Fields that are left out stay as they are."},
		{"get", "Get one %s from %s by id, with all fields."},
	}
}

// catalogOf makes n tools that are as long as those of real servers.
func catalogOf(t testing.TB, n int) []toolcrib.Tool {
	t.Helper()
	var tools []toolcrib.Tool
	for _, v := range verbs() {
		for _, s := range services() {
			for thing := range strings.SplitSeq(s.things, ",") {
				tools = append(tools, catalogTool(t, s, v, thing))
			}
		}
	}
	if len(tools) < n {
		t.Fatalf("the tables make %d tools, want %d", len(tools), n)
	}
	return tools[:n]
}

func catalogTool(t testing.TB, s service, v verb, thing string) toolcrib.Tool {
	t.Helper()
	type prop map[string]any
	text := func(about string) prop { return prop{"type": "string", "description": about} }
	props := map[string]prop{"account": text("The " + s.name + " account to act for. Left out: the one that was set up first.")}
	required := []string{}
	switch v.name {
	case "create", "update":
		props["title"] = text("What the " + thing + " is called; shown in lists.")
		props["content"] = text("What the " + thing + " has to say, in Markdown. Links and mentions are kept.")
		props["labels"] = prop{"type": "array", "items": prop{"type": "string"}, "description": "Labels to put on it. Those that do not exist are made."}
		props["due"] = text("Date by which it matters, as YYYY-MM-DD.")
		required = append(required, "title")
	case "list":
		props["filter"] = text("Only those whose title or content has these words.")
		props["limit"] = prop{"type": "integer", "minimum": 1, "maximum": 100, "description": "How many a page has at most."}
		props["cursor"] = text("Where to go on, as the page before said.")
		props["since"] = text("Only what changed after this time, as RFC 3339.")
	}
	if v.name == "get" || v.name == "update" {
		props["id"] = text("The " + thing + "'s id, as list or create gave it.")
		required = append(required, "id")
	}
	input, err := json.Marshal(map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false})
	if err != nil {
		t.Fatal(err)
	}
	name := s.name + "_" + v.name + "_" + strings.ReplaceAll(thing, " ", "_")
	return toolcrib.Tool{
		Spec: toolcrib.Spec{
			Name: name, Input: input, Effects: toolcrib.Pure, Group: s.name,
			Description: fmt.Sprintf(v.text, thing, s.name) + " Works with " + s.name + " (" + s.about + "). Needs an account that may see the " + thing + ".",
		},
		Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return toolcrib.Text(`{"ok":true,"id":"` + name + `-1","note":"done as asked"}`), nil
		},
	}
}

// boxes puts tools into one box for each service.
func boxes(tools []toolcrib.Tool) []toolcrib.Toolbox {
	by := map[string][]toolcrib.Tool{}
	var order []string
	for _, t := range tools {
		if by[t.Group] == nil {
			order = append(order, t.Group)
		}
		by[t.Group] = append(by[t.Group], t)
	}
	slices.Sort(order)
	var out []toolcrib.Toolbox
	for _, name := range order {
		out = append(out, toolcrib.NewBox(name, by[name]...))
	}
	return out
}
