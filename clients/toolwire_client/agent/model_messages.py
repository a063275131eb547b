"""The agent's own sentences for the model, in the languages of the prompts."""

from __future__ import annotations

from ..react.prompts.template import Template

_WORDS = {
    "en": {
        "turns": "the limit of {{limit}} replies is reached",
        "tokens": "the limit of {{limit}} tokens is reached",
        "seconds": "the limit of {{limit}} seconds is reached",
        "undone": "Nothing was done: {{why}}",
        "interrupted": "This call was started before and was interrupted: it may have taken effect. Do not repeat it "
        "without checking. It was not made again: {{why}}",
        "again": "The same call was started before and was interrupted: it may have taken effect twice.",
        "no_time": "there is no time left.",
        "denied": "the settings of this assistant do not allow {{tool}}.",
        "nobody": "{{tool}} may only be called if a person allows it, and nobody is here to ask.",
        "refused": "the user refused this action.",
        "refused_because": "the user refused this action, saying: {{reason}}",
        "misfit": "the user changed the parameters to some that do not fit: {{faults}}",
        "hidden": "a secret among the parameters of {{tool}} was not written down when this exchange was saved, and "
        "[hidden] stands in its place. Ask the user for it.",
        "left": "the user asked something else before.",
        "timed_out": "{{tool}} did not finish within {{seconds}} seconds. Whether it took effect is not known.",
        "gone": "{{reason}}. Whether the call took effect is not known.",
        "cancelled": "The user cancelled the call. Whether it took effect is not known.",
        "declined": "The user does not want to answer this.",
        "dismissed": "The user closed the question without an answer.",
        "other_content": "The tool also returned what cannot be shown here: {{kinds}}.",
    },
    "zh": {
        "turns": "已达到 {{limit}} 次回复的上限",
        "tokens": "已达到 {{limit}} 个 token 的上限",
        "seconds": "已达到 {{limit}} 秒的时间上限",
        "undone": "没有执行：{{why}}",
        "interrupted": "该调用此前已开始但被中断，可能已经生效。未经核实不要重复。这次没有再次执行：{{why}}",
        "again": "同样的调用此前已开始但被中断，因此可能生效了两次。",
        "no_time": "时间已用完。",
        "denied": "此助理的设置不允许使用 {{tool}}。",
        "nobody": "{{tool}} 须经人工批准才能调用，而当前无人可询问。",
        "refused": "用户拒绝了这个操作。",
        "refused_because": "用户拒绝了这个操作，理由是：{{reason}}",
        "misfit": "用户修改后的参数不符合要求：{{faults}}",
        "hidden": "保存对话时没有记录 {{tool}} 参数中的机密，[hidden] 只是占位。请向用户询问。",
        "left": "用户先提出了别的问题。",
        "timed_out": "{{tool}} 没有在 {{seconds}} 秒内完成，是否生效未知。",
        "gone": "{{reason}}。该调用是否生效未知。",
        "cancelled": "用户取消了该调用，是否生效未知。",
        "declined": "用户不愿回答这个问题。",
        "dismissed": "用户关闭了提问，没有回答。",
        "other_content": "工具还返回了无法在此显示的内容：{{kinds}}。",
    },
}


def model_message(language: str, kind: str, **details: str | int) -> str:
    """Return the sentence of this *kind*, filled with *details*; in English if *language* has none."""
    sentence = _WORDS.get(language, _WORDS["en"])[kind]
    return Template(sentence, optional=details).filled(**details)
