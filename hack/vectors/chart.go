// The chart that vectors are rendered in: FOLDER/chart, which crates/helm/tests/vectors.rs reads as well.

package main

import (
	"io/fs"
	"os"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

func readChart(folder string) ([]*archive.BufferedFile, error) {
	var all []*archive.BufferedFile
	root := os.DirFS(folder)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		all = append(all, &archive.BufferedFile{Name: path, Data: data})
		return err
	})
	return all, err
}
