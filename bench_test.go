package toolcrib_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// The benchmarks of the core. Their targets stand in the table of bench/;
// "make bench" runs them and writes the report.

// benchCrib is a crib over the demo tools without a journal.
func benchCrib(b *testing.B) *toolcrib.Crib {
	b.Helper()
	c := cribtest.Open(b, cribtest.Setup{Guards: []cribtest.GuardSetup{{Effects: toolcrib.Pure}}})
	c.Journal = toolcrib.NoJournal{}
	return c
}

// benchCall gives all nine arguments: strings, an integer, a number, a
// boolean, an enum, a pattern, a list, a nested object and one with a default.
func benchCall(b *testing.B) toolcrib.Call {
	b.Helper()
	input, err := json.Marshal(cribtest.Measure{
		Name: "hexagon bolt", Code: "AB-123", Unit: "mm", Value: 12.5, Count: 40, Rough: true,
		Marks: []string{"steel", "m8", "box"}, Place: cribtest.Place{Row: 3, Shelf: "c"}, Digits: 3,
	})
	if err != nil {
		b.Fatal(err)
	}
	return toolcrib.Call{Tool: "measure", Input: input, Caller: toolcrib.Caller{Subject: "ann", Frontend: "bench"}}
}

// mustCall makes sure that what is measured is a call that was done.
func mustCall(b *testing.B, c *toolcrib.Crib, call toolcrib.Call) {
	result, err := c.Call(b.Context(), call)
	if err != nil || result.Failed {
		b.Fatal(result, err)
	}
}

// BenchmarkCall is the whole pipeline on a pure tool with nine arguments.
func BenchmarkCall(b *testing.B) {
	c, call := benchCrib(b), benchCall(b)
	mustCall(b, c, call)
	b.ReportAllocs()
	for b.Loop() {
		mustCall(b, c, call)
	}
}

// BenchmarkCallDirect is its peer: the bare work of the same tool, reading the
// input and writing the output, with nobody checking anything.
func BenchmarkCallDirect(b *testing.B) {
	call := benchCall(b)
	b.ReportAllocs()
	for b.Loop() {
		var in cribtest.Measure
		if err := json.Unmarshal(call.Input, &in); err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(cribtest.Measured{Total: in.Value * float64(in.Count), Unit: in.Unit, Label: in.Code + " " + in.Name}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCallParallel is the same from as many goroutines as there are cores.
func BenchmarkCallParallel(b *testing.B) {
	c, call := benchCrib(b), benchCall(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mustCall(b, c, call)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkCallInvalid is a call refused for several bad fields.
func BenchmarkCallInvalid(b *testing.B) {
	c, call := benchCrib(b), benchCall(b)
	call.Input = json.RawMessage(`{"name":"","code":"x","unit":"yard","value":"12","count":0,"place":{}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Call(b.Context(), call); toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
			b.Fatal(err)
		}
	}
}

// manyTools are n tools with the nine arguments of measure, in ten boxes.
func manyTools(b *testing.B, n int) []toolcrib.Toolbox {
	b.Helper()
	var one toolcrib.Tool
	for _, t := range cribtest.DemoTools() {
		if t.Name == "measure" {
			one = t
		}
	}
	var boxes []toolcrib.Toolbox
	for box := range 10 {
		tools := make([]toolcrib.Tool, n/10)
		for i := range tools {
			tools[i] = one
			tools[i].Name = fmt.Sprintf("measure_%d_%d", box, i)
			tools[i].Description = fmt.Sprintf("Adds up equal measures, way %d of box %d.", i, box)
		}
		boxes = append(boxes, toolcrib.NewBox(fmt.Sprintf("box%d", box), tools...))
	}
	return boxes
}

func load(b *testing.B, c *toolcrib.Catalog, boxes []toolcrib.Toolbox) {
	b.Helper()
	if _, faults := c.Load(context.Background(), toolcrib.Contents{Boxes: boxes}); len(faults) > 0 {
		b.Fatal(faults[0])
	}
}

// BenchmarkCatalogLoad10k puts 10,000 tools on the shelves of an empty catalog.
func BenchmarkCatalogLoad10k(b *testing.B) {
	boxes := manyTools(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		load(b, &toolcrib.Catalog{}, boxes)
	}
}

// loaded is a crib with n tools, and the name of one in the middle.
func loaded(b *testing.B, n int) (*toolcrib.Crib, string) {
	b.Helper()
	c := benchCrib(b)
	c.Catalog = &toolcrib.Catalog{}
	load(b, c.Catalog, manyTools(b, n))
	return c, fmt.Sprintf("measure_5_%d", n/20)
}

// BenchmarkResolve finds one of n tools.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, name := loaded(b, n)
			caller := toolcrib.Caller{Subject: "ann"}
			for b.Loop() {
				if _, ok := c.Tool(caller, name); !ok {
					b.Fatal("not found: " + name)
				}
			}
		})
	}
}

// BenchmarkCallAmong is a whole call among n tools.
func BenchmarkCallAmong(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, name := loaded(b, n)
			call := benchCall(b)
			call.Tool = name
			for b.Loop() {
				mustCall(b, c, call)
			}
		})
	}
}

// BenchmarkTools lists all of n tools and tells the time per tool.
func BenchmarkTools(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, _ := loaded(b, n)
			caller := toolcrib.Caller{Subject: "ann"}
			listed := 0
			for b.Loop() {
				for range c.Tools(caller) {
					listed++
				}
			}
			if listed != n*b.N {
				b.Fatalf("listed %d tools in %d rounds of %d", listed, b.N, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(listed), "ns/tool")
		})
	}
}
