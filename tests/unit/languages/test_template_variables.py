"""Which variables a template reads: exactly those, however the dot and the variables move."""

import pytest

from shared.languages.gotemplate import compile_template

READS: list[tuple[str, set[str]]] = [
    ("no action", set()),
    ("{{ 1 }}{{ now }}", set()),
    ("{{ .a }}", {"a"}),
    ("{{ .a.b.c }}", {"a"}),
    ("{{ $.a }}", {"a"}),
    ("{{ .a | lower | default .b }}", {"a", "b"}),
    ("{{ print .a (len .b) }}", {"a", "b"}),
    ("{{ range .xs }}{{ .id }}{{ end }}", {"xs"}),
    ("{{ range .xs }}{{ .id }}{{ $.name }}{{ else }}{{ .none }}{{ end }}", {"xs", "name", "none"}),
    ("{{ range $i, $x := .xs }}{{ $x.id }}{{ $i }}{{ .id }}{{ end }}", {"xs"}),
    ("{{ range . }}{{ .id }}{{ end }}", set()),
    ("{{ range .xs }}{{ range .ys }}{{ .z }}{{ end }}{{ end }}", {"xs"}),
    ("{{ with .a }}{{ .b }}{{ else }}{{ .c }}{{ end }}", {"a", "c"}),
    ("{{ with .a }}{{ else with .b }}{{ .c }}{{ end }}", {"a", "b"}),
    ("{{ with . }}{{ .a }}{{ end }}", {"a"}),
    ("{{ with $x := .a }}{{ $x.b }}{{ $.c }}{{ end }}", {"a", "c"}),
    ("{{ if .a }}{{ .b }}{{ else if .c }}{{ .d }}{{ else }}{{ .e }}{{ end }}", {"a", "b", "c", "d", "e"}),
    ("{{ $x := .a }}{{ $x.b }}", {"a"}),
    ("{{ $x := . }}{{ $x.b }}", {"b"}),
    ("{{ $x := $ }}{{ with .a }}{{ $x.b }}{{ end }}", {"a", "b"}),
    ("{{ $x := . }}{{ $x = .a }}{{ $x.b }}", {"a"}),
    ("{{ $x := .a }}{{ if .c }}{{ $x = . }}{{ end }}{{ $x.b }}", {"a", "b", "c"}),
    ("{{ $x := .a }}{{ if .c }}{{ $x := . }}{{ end }}{{ $x.b }}", {"a", "c"}),
    ("{{ $x := .a }}{{ range .l }}{{ $x.b }}{{ $x = $ }}{{ end }}", {"a", "l", "b"}),
    ("{{ (.a).b }}{{ (index .l 0).c }}", {"a", "l"}),
    ('{{ (index . "a").b }}', {"a"}),
    ('{{ index . "a" }}', set()),
    ("{{ (or .a .).b }}", {"a", "b"}),
    ("{{ (. | default .a).b }}", {"a", "b"}),
    ("{{ (print .).b }}", set()),
    ('{{ define "t" }}{{ .b }}{{ $.c }}{{ end }}{{ template "t" . }}', {"b", "c"}),
    ('{{ define "t" }}{{ .b }}{{ $.c }}{{ end }}{{ template "t" .a }}', {"a"}),
    ('{{ define "t" }}{{ .b }}{{ end }}{{ template "t" }}', set()),
    ('{{ define "t" }}{{ .b }}{{ end }}{{ .a }}', {"a"}),
    (
        '{{ define "t" }}{{ .v }}{{ range .kids }}{{ template "t" . }}{{ end }}{{ end }}{{ template "t" .tree }}',
        {"tree"},
    ),
    ('{{ define "t" }}{{ .v }}{{ template "t" . }}{{ end }}{{ template "t" . }}', {"v"}),
    ('{{ block "t" .a }}{{ .b }}{{ end }}', {"a"}),
    ('{{ template "t" .a }}', {"a"}),
    ("{{ range $k, $v := .m }}{{ $k.x }}{{ end }}", {"m"}),
    ("{{ range $x := .l }}{{ else }}{{ .y }}{{ end }}", {"l", "y"}),
]


@pytest.mark.parametrize(("source", "names"), READS, ids=[row[0] for row in READS])
def test_the_free_variables_are_exact(source: str, names: set[str]) -> None:
    program = compile_template(source)
    assert program.free_variables == names
    assert not [p for p in program.problems(names) if "unknown variable" in p.problem]


PATHS: list[tuple[str, set[str]]] = [
    ("{{ .a.b }}{{ .a.c.d }}", {"a.b", "a.c.d"}),
    ("{{ range .xs }}{{ .id }}{{ end }}", {"xs", "xs.*.id"}),
    ("{{ with .adapter }}{{ .name }}{{ end }}", {"adapter", "adapter.name"}),
    ("{{ range $k, $v := .m }}{{ $v.id }}{{ end }}", {"m", "m.*.id"}),
    ('{{ (index .l 0).id }}{{ (index .m "k").id }}', {"l", "l.*.id", "m", "m.k.id"}),
    ("{{ (slice .l 1 | index 0).id }}", {"l"}),
    ("{{ range slice .l 1 }}{{ .id }}{{ end }}", {"l", "l.*.id"}),
    ("{{ range . }}{{ .id }}{{ end }}", {"*.id"}),
]


@pytest.mark.parametrize(("source", "paths"), PATHS, ids=[row[0] for row in PATHS])
def test_the_free_paths_show_what_is_read_below(source: str, paths: set[str]) -> None:
    assert {".".join(path) for path in compile_template(source).free_paths} == paths


def test_a_tangle_of_templates_is_followed_no_further_than_it_could_run() -> None:
    steps = "".join(
        f'{{{{ define "t{i}" }}}}{{{{ template "t{i + 1}" .a }}}}{{{{ template "t{i + 1}" .b }}}}{{{{ end }}}}'
        for i in range(300)
    )
    assert compile_template(steps + '{{ template "t0" .x }}').free_variables == {"x"}
