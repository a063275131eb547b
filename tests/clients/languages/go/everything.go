// Drives the client of npm's server-everything.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"drive/tools"
)

func main() {
	ctx := context.Background()
	t, err := tools.Connect(ctx, nil)
	must(err)
	weather, err := t.GetStructuredContent(ctx, tools.GetStructuredContentArguments{Location: tools.GetStructuredContentLocationChicago})
	must(err)
	sum, err := t.GetSum(ctx, tools.GetSumArguments{A: 2, B: 3})
	must(err)
	image, err := t.GetTinyImage(ctx)
	must(err)
	steps := 0
	long := tools.TriggerLongRunningOperationArguments{Duration: tools.Optional(0.2), Steps: tools.Optional(2.0)}
	_, err = t.TriggerLongRunningOperation(ctx, long, tools.OnProgress(func(tools.Progress) { steps++ }))
	must(err)
	resource, err := t.GetResourceReference(ctx, tools.GetResourceReferenceArguments{})
	must(err)
	line, err := json.Marshal([]any{
		t.Revision, weather, sum.Text(), image.Content[1].MimeType, len(image.Content[1].Data) > 100, steps,
		resource.Content[1].Resource.URI,
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
