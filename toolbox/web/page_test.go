package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func read(source string) page {
	base, err := url.Parse("https://site.example/dir/page.html")
	if err != nil {
		panic(err)
	}
	return readPage(source, base)
}

func TestReadPage(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"nothing", "", ""},
		{"text only", "just  text\n here", "just text here"},
		{"paragraphs", "<p>one<p>two</p>three", "one\n\ntwo\n\nthree"},
		{"headings", "<h1>A <b>b</b></h1><h3>C<br>d</h3>x", "# A b\n\n### C d\n\nx"},
		{"inline", "a<b>b</b> c <i> d </i>e", "ab c d e"},
		{"entities", "a &amp; b &lt;c&gt; &eacute;&#233;&#xE9; &nosuch; &#0;", "a & b <c> ééé &nosuch; \ufffd"},
		{"lone angle", "1 < 2 and 3<4 <", "1 < 2 and 3<4 <"},
		{"link", `see <a href="../x?a=1&amp;b=2#f">the page</a>.`, "see [the page](https://site.example/x?a=1&b=2#f)."},
		{"link to itself", `<a href=https://a.example/>https://a.example/</a>`, "https://a.example/"},
		{"links that are none", `<a href="javascript:alert(1)">a</a> <a href="data:text/html,x">b</a> <a href="#x">c</a> <a>d</a> <a href="vbscript:x">e</a>`, "a b c d e"},
		{"link with a password", `<a href="https://u:p@h.example/">x</a>`, "[x](https://h.example/)"},
		{"open link", `<a href=/1>one<a href=/2>two`, "[one](https://site.example/1)[two](https://site.example/2)"},
		{"link around blocks", `<a href=/1><h2>head</h2><p>text</p></a>`, "## head\n\ntext"},
		{"empty link", `<a href=/1><img src=x></a>y`, "y"},
		{"image", `<a href=/1><img src=x alt="a  cat"></a>`, "[[image: a cat]](https://site.example/1)"},
		{"lists", "<ul><li>a<li>b<ol><li>x</li><li>y</ol><li>c</ul>d", "- a\n- b\n  1. x\n  2. y\n- c\n\nd"},
		{"empty item", "<ul><li></li></ul><p>x", "x"},
		{"table", "<table><tr><th>a<th>b<tr><td>1<td>2</table>x", "a | b\n1 | 2\n\nx"},
		{"pre", "<pre>\n a\n   b &lt;\n</pre>c", "```\n a\n   b <\n```\n\nc"},
		{"quote", "<blockquote><p>a<br>b<p>c</blockquote>d", "> a\n> b\n\n> c\n\nd"},
		{"rule", "a<hr>b", "a\n\n---\n\nb"},
		{"script and style", "a<script>if (1<2) { x='</p>' }</script><style>p{}</style>b", "ab"},
		{"script left open", "a<script>b<p>c", "a"},
		{"comments", "a<!-- b --><!-->c<!--->d<!-- e --!>f<!x>g<?y?>h</ i>j<!-- k", "acdfghj"},
		{"template, svg, iframe", "a<template>b</template><svg><title>t</title><text>c</text></svg><iframe>d</iframe><select><option>e</select>f", "af"},
		{"hidden", `a<p hidden>b</p><div style="DISPLAY : none">c<p>d</div><span style="font-size:0">e</span><i style="visibility: hidden">f</i>g`, "a\n\ng"},
		{"hidden, not closed", `a<div hidden>b<p>c<div>d</div></div>e`, "a\n\ne"},
		{"stray ends", "</div></p></b>a</li></table>b", "ab"},
		{"half a tag", "a<b class=\"x", "a"},
		{"strange attributes", `<a = href='/q' "x" / y=z>t</a>`, "[t](https://site.example/q)"},
		{"upper case", "<UL><LI>A</LI><LI>B</UL><SCRIPT>x</Script >c", "- A\n- B\n\nc"},
		{"base", `<base href="https://other.example/d/"><a href=x>y</a>`, "[y](https://other.example/d/x)"},
		{"head", "<html><head><title>T</title>stray<meta charset=x></head><body>b", "b"},
		{"no body", "<head><link rel=x><p>b", "b"},
		{"noscript", "<noscript><p>please read</p></noscript>", "please read"},
		{"spaces", "a\u00a0b\u2003c\u200bd\u202e\u2066e", "a b cde"},
		{"terminal", "a\x1b[31mb\x07\x9bc&#27;[2J&#x9b;d&#8;", "a[31mb\ufffdc[2J\u203ad"},
	} {
		if diff := cmp.Diff(c.want, read(c.source).Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestMainContent(t *testing.T) {
	menu := "<nav><ul><li><a href=/1>Menu one</a><li><a href=/2>Menu two</a></ul></nav><header>Banner</header>"
	long := strings.Repeat("Sentence of the story. ", 20)
	foot := "<footer>Imprint</footer><aside>Adverts</aside><div role=navigation>Crumbs</div>"
	for _, c := range []struct{ name, source, has, hasNot string }{
		{"main", menu + "<div>Beside</div><main><header><h1>Head</h1></header><p>" + long + "</main>" + foot, "# Head", "Menu,Banner,Beside,Imprint,Adverts,Crumbs"},
		{"role", menu + "<div role=main><p>" + long + "</div>" + foot, "Sentence", "Menu,Banner,Imprint"},
		{"no main", menu + "<h1>Head</h1><p>" + long + foot, "# Head", "Menu,Banner,Imprint,Adverts"},
		{"main is a stub", menu + "<main>x</main><p>" + long, "Sentence", "Menu"},
		{"only a menu", menu, "Menu one", ""},
		{"menu left open", "<nav><a href=/1>Menu</a><p>" + long, "Sentence", ""},
		{"aside in main", "<main><p>" + long + "<aside>Adverts</aside></main>", "Sentence", "Adverts"},
	} {
		got := read(c.source).Text
		if !strings.Contains(got, c.has) {
			t.Errorf("%s lacks %q:\n%s", c.name, c.has, got)
		}
		for word := range strings.SplitSeq(c.hasNot, ",") {
			if word != "" && strings.Contains(got, word) {
				t.Errorf("%s has %q:\n%s", c.name, word, got)
			}
		}
	}
}

func TestTitleAndRefresh(t *testing.T) {
	p := read("<title> A\n &amp; <b>\x1b[0m\u202e </title><svg><title>no</title></svg><title>later</title>" +
		`<meta http-equiv=Refresh content="0; URL='/next'"><meta http-equiv=refresh content="0;url=/later">x`)
	if p.Title != "A & <b>[0m" || p.Refresh != "https://site.example/next" || p.Text != "x" {
		t.Errorf("%+v", p)
	}
	for _, content := range []string{"5", "0;url=javascript:x", "0; url=data:text/html,x", "0;src=/x", ""} {
		if p := read(`<meta http-equiv=refresh content="` + content + `">`); p.Refresh != "" {
			t.Errorf("%s leads to %s", content, p.Refresh)
		}
	}
}

// Pages made to be expensive: each would take minutes or gigabytes if any step
// looked at a byte again and again, and takes far less than this bound.
func TestHostilePages(t *testing.T) {
	const size = 2 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	for name, source := range map[string]string{
		"deep nesting":         fill("<div>"),
		"deep inline nesting":  fill("<b>"),
		"deep lists":           fill("<ul><li>x"),
		"deep quotes":          fill("<blockquote>x"),
		"quoted lines":         strings.Repeat("<blockquote>", 20) + "<pre>" + fill("\n"),
		"ends without starts":  strings.Repeat("<b>", 500) + fill("</i></p>"),
		"blocks behind a wall": "<p><table>" + strings.Repeat("<b>", 400) + fill("<div></div>"),
		"one huge attribute":   `<a href="` + fill("x") + `">t</a>`,
		"an open attribute":    `<a href="` + fill("x"),
		"many attributes":      "<a " + fill("x=y ") + ">t</a>",
		"one huge tag name":    "<" + fill("x") + ">t",
		"many open tags":       fill("<a href='"),
		"comments":             fill("<!--x--!>"),
		"open comments":        fill("<!--"),
		"dashes":               "<!--" + fill("-"),
		"declarations":         fill("<!"),
		"angles":               fill("<"),
		"script ends":          "<script>" + fill("</scrip"),
		"open scripts":         fill("<script>"),
		"many links in a line": `<base href="https://h.example/` + strings.Repeat("p", 1900) + `/">` + fill("<a href=x>y</a>"),
		"ampersands":           fill("&"),
		"entities":             fill("&notit;"),
		"marks":                "a" + fill("\u0301"),
		"spaces":               fill(" "),
		"cells":                "<table><tr>" + fill("<td>"),
		"items":                "<ol>" + fill("<li>"),
	} {
		start := time.Now()
		p := read(source)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if len(p.Text) > 40*maxText {
			t.Errorf("%s makes %d bytes", name, len(p.Text))
		}
	}
}

func FuzzReadPage(f *testing.F) {
	for _, s := range []string{
		"", "<p>a<b>c</p>", "<a href='/x'>y</a>", "<!--", "<script></script", "<ul><li>a<ul><li>b</ul></ul>", "<title>x", "<table><tr><td>a<td>b",
		"&#xd800;&#1114112;&am", "<pre>\n\x1b[0m</pre>", "<div hidden><main>x</div>", "\xff\xfe<", "<meta http-equiv=refresh content='0;url=x'>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		p := read(source)
		for _, text := range []string{p.Text, p.Title, p.Refresh} {
			if plain(text) != text {
				t.Errorf("%q holds what cannot be seen", text)
			}
		}
		if len(p.Text) > 64*len(source)+1024 && len(p.Text) > 40*maxText {
			t.Errorf("%d bytes made of %d", len(p.Text), len(source))
		}
	})
}
