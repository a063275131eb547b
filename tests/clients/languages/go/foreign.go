// Drives the client of a server of the official Python SDK in both eras.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"drive/tools"
)

func main() {
	ctx := context.Background()
	var asked []string
	ask := func(_ context.Context, question tools.Question) (tools.Answer, error) {
		asked = append(asked, question.Message)
		return tools.Accept(struct {
			Sure bool `json:"sure"`
		}{true}), nil
	}
	t, err := tools.Connect(ctx, &tools.Options{Era: os.Args[1], Ask: ask})
	must(err)
	sum, err := t.Add(ctx, tools.AddArguments{A: 2, B: 3})
	must(err)
	_, failed := t.Fail(ctx)
	var failure *tools.ToolError
	steps := 0.0
	counted, err := t.Count(ctx, tools.OnProgress(func(progress tools.Progress) { steps += progress.Done }))
	must(err)
	deleted, err := t.Delete(ctx, tools.DeleteArguments{What: "it"})
	must(err)
	late, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, waited := t.Wait(late)
	line, err := json.Marshal([]any{
		t.Revision, sum, errors.As(failed, &failure), counted, steps, deleted, asked,
		errors.Is(waited, context.DeadlineExceeded),
	})
	must(err)
	must(t.Close())
	fmt.Println(string(line))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
