// Drives the client of every_type.py: prints a line of JSON for each step, which test_go.py reads.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"drive/tools"
)

var ctx = context.Background()

func say(step string, value any) {
	line, err := json.Marshal([]any{step, value})
	must(err)
	fmt.Println(string(line))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func kind(err error) string {
	var tool *tools.ToolError
	var request *tools.RequestError
	var gone *tools.ServerGoneError
	var rules *tools.ProtocolError
	switch {
	case err == nil:
		return "no error"
	case errors.As(err, &tool):
		return "tool: " + tool.Result.Text()
	case errors.As(err, &request):
		return fmt.Sprintf("request: %d", request.Code)
	case errors.As(err, &gone):
		return fmt.Sprintf("gone: %d %s", gone.State.ExitCode(), strings.TrimSpace(gone.Stderr))
	case errors.As(err, &rules):
		return "rules: " + rules.Problem
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "too late"
	case errors.Is(err, tools.ErrClosed):
		return "closed"
	}
	return err.Error()
}

func value() tools.EveryTypeValue {
	circle := tools.EveryTypeValueShapeCircle{Type: tools.EveryTypeValueShapeCircleTypeCircle, Centre: tools.EveryTypeValuePlace{X: 1}, Radius: 2.5}
	return tools.EveryTypeValue{
		Text: "grün </script> \u2028", Whole: 1 << 60, Number: 0.1, Flag: true, Mode: tools.EveryTypeValueModeAsUsual,
		Colour: tools.EveryTypeValueColourLightGreen, Level: 2, OneOrTwo: 1, Words: []string{"a", ""}, Pair: tools.List[any]{1, "one"},
		Counts: map[string]int64{"a b": 1}, Matrix: tools.List[tools.List[float64]]{{1, 2.5}, {}},
		Place: tools.EveryTypeValuePlace{X: 1, Y: tools.Optional(2.0)}, Places: tools.Map[tools.List[tools.EveryTypeValuePlace]]{"home": {{X: 3}}},
		Shape:   tools.EveryTypeValueShapeOfCircle(circle),
		Tree:    tools.EveryTypeTree{Name: "root", Branches: []tools.EveryTypeTree{{Name: "leaf"}}},
		Either:  tools.EveryTypeValueEitherOfIntegerList([]int64{1, 2}),
		Options: tools.EveryTypeValueOptions{Type: "x", Func: tools.Null[bool]()},
		Day:     "2026-11-23", Anything: map[string]any{"deep": []any{nil, 1 << 60}}, KebabCase: tools.Optional("kebab"),
	}
}

func types(t *tools.Tools) {
	sum, err := t.Add(ctx, tools.AddArguments{A: 2, B: tools.Optional(int64(3))})
	must(err)
	less, err := t.Add(ctx, tools.AddArguments{A: 2})
	must(err)
	say("add", []int64{sum, less})
	several, err := t.EveryType(ctx, tools.EveryTypeArguments{Value: value(), Times: tools.Optional(int64(2))})
	must(err)
	say("every type", several)
	_, isSquare := several[0].Shape.AsSquare()
	circle, isCircle := several[0].Shape.AsCircle()
	_, isText := several[0].Either.AsString()
	_, isWhole := several[0].Either.AsInteger()
	numbers, isList := several[0].Either.AsIntegerList()
	say("unions", []any{isSquare, isCircle, circle.Radius, isText, isWhole, isList, numbers})
	size, err := t.Measure(ctx, tools.MeasureArguments{Shape: tools.MeasureShapeOfSquare(tools.MeasureShapeSquare{Type: tools.MeasureShapeSquareTypeSquare, Side: 3})})
	must(err)
	say("measure", size)
	tree, err := t.Plant(ctx, tools.PlantArguments{Depth: 2})
	must(err)
	say("plant", []string{tree.Name, tree.Branches[0].Name, tree.Branches[0].Branches[0].Name})
	picture, err := t.Picture(ctx)
	must(err)
	say("picture", []any{picture.Content[0].Type, picture.Content[0].MimeType, string(picture.Content[0].Data[1:])})
	nothing, err := t.Nothing(ctx)
	must(err)
	say("nothing", nothing)
	text, err := t.JustText(ctx, tools.JustTextArguments{})
	must(err)
	say("just text", text.Text())
	class, err := t.Class(ctx)
	must(err)
	url, err := t.GetURLFor(ctx, tools.GetURLForArguments{Page: "a"})
	must(err)
	items, err := t.ListItemsV2(ctx, tools.ListItemsV2Arguments{First: tools.Optional(int64(5)), MaxItems: tools.Some(int64(2))})
	must(err)
	say("names", []any{class.Text(), url.Text(), items})
}

func failures(t *tools.Tools) {
	_, err := t.Fail(ctx, tools.FailArguments{Reason: "out of order"})
	say("fail", []string{kind(err), err.Error()})
	_, err = t.EveryType(ctx, tools.EveryTypeArguments{Value: value(), Times: tools.Optional(int64(9))})
	say("bad arguments", kind(err))
	_, err = t.CallTool(ctx, "missing", nil)
	say("missing", kind(err))
}

func progress(t *tools.Tools) {
	var seen []any
	_, err := t.Count(ctx, tools.CountArguments{To: 3}, tools.OnProgress(func(p tools.Progress) {
		seen = append(seen, []any{p.Done, p.Total, p.Message})
	}))
	must(err)
	say("progress", seen)
}

func cancellation(t *tools.Tools) {
	canceled, cancel := context.WithCancel(ctx)
	_, err := t.Wait(canceled, tools.WaitArguments{Name: "go"}, tools.OnProgress(func(tools.Progress) { cancel() }))
	was, problem := t.WasCancelled(ctx, tools.WasCancelledArguments{Name: "go"})
	must(problem)
	late, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, lateErr := t.Wait(late, tools.WaitArguments{Name: "late"})
	_, beforeErr := t.Wait(canceled, tools.WaitArguments{Name: "never sent"})
	say("cancel", []any{kind(err), was, kind(lateErr), kind(beforeErr)})
}

func pipelined(t *tools.Tools) {
	var group sync.WaitGroup
	wrong := make(chan string, 10_000)
	for i := range int64(10_000) {
		group.Add(1)
		go func() {
			defer group.Done()
			sum, err := t.Add(ctx, tools.AddArguments{A: i})
			if err != nil || sum != i+1 {
				wrong <- fmt.Sprint(i, sum, err)
			}
		}()
	}
	group.Wait()
	say("pipelined", len(wrong))
}

func questions(era string) {
	var asked []any
	answer := tools.Accept(map[string]any{"size": "large", "pieces": 2})
	t := connect(era, func(_ context.Context, question tools.Question) (tools.Answer, error) {
		asked = append(asked, []any{question.Message, question.Tool, len(question.Schema) > 0})
		if answer.Action == "" {
			return answer, errors.New("the user is away")
		}
		return answer, nil
	})
	defer t.Close()
	done, err := t.Order(ctx, tools.OrderArguments{Dish: "soup"})
	must(err)
	answer = tools.Decline
	_, declined := t.Order(ctx, tools.OrderArguments{Dish: "tea"})
	answer = tools.Answer{}
	_, away := t.Order(ctx, tools.OrderArguments{Dish: "cake"})
	say("questions", []any{asked, done.Text(), kind(declined), kind(away)})
}

func death(t *tools.Tools) {
	started, open := make(chan bool, 1), make(chan error, 1)
	go func() {
		_, err := t.Wait(ctx, tools.WaitArguments{Name: "open"}, tools.OnProgress(func(tools.Progress) { started <- true }))
		open <- err
	}()
	<-started
	_, err := t.Die(ctx, tools.DieArguments{Status: 7, Words: "out of \x1b[31mpaper"})
	_, later := t.Add(ctx, tools.AddArguments{A: 1})
	say("death", []any{kind(err), kind(<-open), kind(later), strings.Contains(err.Error(), "\x1b")})
	must(t.Close())
}

func connect(era string, ask tools.Ask) *tools.Tools {
	t, err := tools.Connect(ctx, &tools.Options{Era: era, Ask: ask})
	must(err)
	return t
}

func main() {
	era := os.Args[1]
	t := connect(era, nil)
	say("revision", t.Revision)
	types(t)
	failures(t)
	progress(t)
	cancellation(t)
	pipelined(t)
	_, err := t.Order(ctx, tools.OrderArguments{Dish: "soup"})
	say("no questions", kind(err))
	must(t.Close())
	_, err = t.Add(ctx, tools.AddArguments{A: 1})
	say("closed", kind(err))
	questions(era)
	death(connect(era, nil))
	_, err = tools.Connect(ctx, nil, "sh", "-c", "echo no config >&2; exit 3")
	say("no start", kind(err))
}
