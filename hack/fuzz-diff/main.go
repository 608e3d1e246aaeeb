// Command fuzz-diff answers cases as `helm template` would, many in one process.
//
// Reads one JSON object a line: {"files": {PATH: BASE64}, "values": BASE64}; writes one a line:
// {"out": BASE64, "err": TEXT}. Owns: the steps of Helm's pkg/cmd/template.go and install.go between loaded files and
// printed text. Does not own: flags, fetching. A case that takes longer than its time is answered with "timeout", and
// the process ends: a goroutine cannot be stopped.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sort"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
)

type request struct {
	Files  map[string][]byte `json:"files"`
	Values []byte            `json:"values"`
}

type answer struct {
	Out []byte `json:"out"`
	Err string `json:"err"`
}

func values(text []byte) (map[string]any, error) {
	// pkg/cli/values: the file "-" of --values.
	current, err := loader.LoadValues(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("failed to parse %s: %w", "-", err)
	}
	return loader.MergeMaps(map[string]any{}, current), nil
}

func template(r request) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	client := action.NewInstall(&action.Configuration{Capabilities: common.DefaultCapabilities.Copy()})
	version, err := common.ParseKubeVersion("1.35.0")
	if err != nil {
		return nil, err
	}
	client.KubeVersion = version
	client.DryRunStrategy = action.DryRunClient
	client.Replace = true
	client.ReleaseName = "r"
	client.Namespace = "demo"
	vals, err := values(r.Values)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(r.Files))
	for name := range r.Files {
		names = append(names, name)
	}
	sort.Strings(names)
	files := make([]*archive.BufferedFile, 0, len(names))
	for _, name := range names {
		files = append(files, &archive.BufferedFile{Name: name, Data: r.Files[name]})
	}
	chart, err := loader.LoadFiles(files)
	if err != nil {
		return nil, err
	}
	result, err := client.Run(chart, vals)
	rel, _ := result.(*release.Release)
	if err != nil {
		if rel != nil {
			return nil, fmt.Errorf("%w\n\nUse --debug flag to render out invalid YAML", err)
		}
		return nil, err
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, strings.TrimSpace(rel.Manifest))
	for _, hook := range rel.Hooks {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", hook.Path, hook.Manifest)
	}
	return text.Bytes(), nil
}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintln(os.Stderr, "fuzz-diff:", err)
			os.Exit(2)
		}
		late := time.AfterFunc(20*time.Second, func() {
			_ = out.Encode(answer{Err: "timeout"})
			os.Exit(3)
		})
		text, err := template(r)
		late.Stop()
		a := answer{Out: text}
		if err != nil {
			a.Err = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return
		}
	}
}
