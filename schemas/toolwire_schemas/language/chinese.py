"""Sentences for models in Chinese, by the English ones. Imported when the first of them is needed."""

from __future__ import annotations

SENTENCES: dict[str, str] = {
    # Faults of arguments
    "is missing": "缺少",
    "is unknown; {hint}": "未知；{hint}",
    "nothing is taken here": "此处不接受任何参数",
    "did you mean {name}? ": "是否想用 {name}？",
    "Known here: {names}": "此处可用：{names}",
    "{value} is neither {kinds}": "{value} 不是{kinds}",
    " nor ": "，也不是",
    " or ": "或",
    "an integer": "整数",
    "a number": "数字",
    "a string": "字符串",
    "a boolean": "布尔值",
    "an array": "数组",
    "an object": "对象",
    "null": " null",
    "a date-time with its offset, such as 2026-03-01T09:00:00Z": "带偏移的日期时间，如 2026-03-01T09:00:00Z",
    "a date, such as 2026-03-01": "日期，如 2026-03-01",
    "a time with its offset, such as 09:00:00Z": "带偏移的时间，如 09:00:00Z",
    "an ISO 8601 duration, such as P1DT2H30M": "ISO 8601 时长，如 P1DT2H30M",
    "a UUID, such as 123e4567-e89b-12d3-a456-426614174000": "UUID，如 123e4567-e89b-12d3-a456-426614174000",
    "of the format {name}": "{name} 格式",
    "{value} is not {wanted}": "{value} 不是{wanted}",
    "{value} is not {values}": "{value} 不是 {values}",
    "{value} is not one of {values}": "{value} 不在可选值之中：{values}",
    "{value} does not match the pattern {wanted}": "{value} 不符合模式 {wanted}",
    "{value} is less than {wanted}": "{value} 小于 {wanted}",
    "{value} is greater than {wanted}": "{value} 大于 {wanted}",
    "{value} is not greater than {wanted}": "{value} 不大于 {wanted}",
    "{value} is not less than {wanted}": "{value} 不小于 {wanted}",
    "{value} is not a multiple of {wanted}": "{value} 不是 {wanted} 的倍数",
    "{value} is shorter than {wanted} characters": "{value} 少于 {wanted} 个字符",
    "{value} is longer than {wanted} characters": "{value} 多于 {wanted} 个字符",
    "has {count} items, at least {wanted} are needed": "有 {count} 项，至少需要 {wanted} 项",
    "has {count} items, at most {wanted} are taken": "有 {count} 项，最多接受 {wanted} 项",
    "has {count} members, at least {wanted} are needed": "有 {count} 个成员，至少需要 {wanted} 个",
    "has {count} members, at most {wanted} are taken": "有 {count} 个成员，最多接受 {wanted} 个",
    "has items that are equal": "含有相同的项",
    "{count} more faults of this kind": "还有 {count} 处这类错误",
    "many": "许多",
    "is nested too deeply": "嵌套过深",
    "{value!r} is not an integer": "{value!r} 不是整数",
    "{value!r} is too large a fraction to be an exact integer; write out its digits": (
        "{value!r} 太大，无法作为精确的整数；请写出全部数字"
    ),
    "{value!r} is no duration: its letters are capitals": "{value!r} 不是时长：其中的字母应为大写",
    "{value!r} is no duration of weeks, days, hours, minutes and seconds: {error}": (
        "{value!r} 不是由周、日、时、分、秒组成的时长：{error}"
    ),
    "{value!r} is not a decimal number": "{value!r} 不是十进制数",
    "{value!r} is not a number": "{value!r} 不是数字",
    "{value!r} is no Base64, with padding and without spaces, such as 'YWI='": (
        "{value!r} 不是 Base64；应有填充符且不含空格，如 'YWI='"
    ),
    "has half of a character in it (a lone surrogate), which is no text": "含有半个字符（单独的代理项），不是文本",
    "no member of the union takes {type}": "各种可选类型都不接受 {type}",
    "must be at least {limit}": "应不小于 {limit}",
    "must be greater than {limit}": "应大于 {limit}",
    "must be at most {limit}": "应不大于 {limit}",
    "must be less than {limit}": "应小于 {limit}",
    "must be a multiple of {limit}": "应为 {limit} 的倍数",
    "must be no shorter than {limit}": "长度应不小于 {limit}",
    "must be no longer than {limit}": "长度应不大于 {limit}",
    # What a model wrote
    "invalid json format: {problem}; {wanted}": "JSON 格式无效：{problem}；{wanted}",
    "invalid tuple format: {problem}; {wanted}": "元组格式无效：{problem}；{wanted}",
    "pass one JSON object like {example}": "请传入一个 JSON 对象，形如 {example}",
    "pass one tuple like {example}": "请传入一个元组，形如 {example}",
    "API takes {bound} required positional arguments but {count} were given; {wanted}": (
        "API 需要 {bound} 个必需的位置参数，但给出了 {count} 个；{wanted}"
    ),
    "API takes {bound} positional arguments but {count} were given; {wanted}": (
        "API 接受 {bound} 个位置参数，但给出了 {count} 个；{wanted}"
    ),
    "{name} takes no arguments": "{name} 不接受参数",
    "the name of an argument is no text": "参数的名称不是文本",
    "the arguments are nested too deeply": "参数嵌套过深",
    "this is {kind}": "这是{kind}",
    "a tuple": "元组",
    "nothing": "空值",
    "of the type {name}": " {name} 类型的值",
    "nested too deeply": "嵌套过深",
    "{problem}: line {line} column {column} (char {place})": "{problem}：第 {line} 行第 {column} 列（字符 {place}）",
    "{problem} (line {line}, column {column} of the block)": "{problem}（块的第 {line} 行第 {column} 列）",
    ": line {line} column {column}": "：第 {line} 行第 {column} 列",
    "{count:,} characters are more than the {most:,} that are read": "{count:,} 个字符，超过了读取的上限 {most:,} 个",
    "not a literal: no names, calls or arithmetic": "不是字面量：不能有名称、调用或算术",
    "{value} is no number in JSON": "{value} 不是 JSON 中的数字",
    "a text has unpaired surrogates": "文本中有未配对的代理项",
    "{name} occurs twice in one object": "{name} 在同一个对象中出现了两次",
    # What Python's decoder of JSON says
    "Expecting value": "此处应有值",
    "Expecting property name enclosed in double quotes": "此处应有用双引号括起的属性名",
    "Expecting ':' delimiter": "此处应有 ':'",
    "Expecting ',' delimiter": "此处应有 ','",
    "Illegal trailing comma before end of object": "对象末尾有多余的逗号",
    "Illegal trailing comma before end of array": "数组末尾有多余的逗号",
    "Extra data": "有多余的内容",
    "Unterminated string starting at": "字符串没有结束，始于",
    "Invalid control character at": "此处有无效的控制字符",
    "Invalid \\escape": "反斜杠转义无效",
    "Invalid \\uXXXX escape": "\\uXXXX 转义无效",
    # Names that are not known
    "no {what} {name!r}{question} Known: {known}": "没有名为 {name!r} 的{what}{question}可用的有：{known}",
    "no {what} {name!r}; no names are known": "没有名为 {name!r} 的{what}；一个也没有",
    ", did you mean {name!r}?": "，是否想用 {name!r}？",
    ".": "。",
    "action": "动作",
    "API": " API",
    "theme": "主题",
    "There is {which}": "{which}",
    "{action} has {which}": "{action} {which}",
    "{name!r} is a toolkit; call one of {apis}": "{name!r} 是工具包；请调用其中之一：{apis}",
    "invalid API: {name}; {why}": "无效的 API：{name}；{why}",
    "invalid API: {name}; {action} is only described, nothing runs it: {remedy}": (
        "无效的 API：{name}；{action} 只有描述，没有可运行的代码：{remedy}"
    ),
    "subclass BaseAction and write the method that does it": "请继承 BaseAction 并编写执行它的方法",
    "The action is invalid, please check the action name.": "动作无效，请检查动作名称。",
    "Please follow the format": "请遵循格式",
    "A call needs the name of an action, and parameters.": "调用需要动作的名称和参数。",
    # Instructions for tools
    "Write the instruction between <{tag}> and </{tag}>.": "请把指令写在 <{tag}> 和 </{tag}> 之间。",
    "Write one JSON object between <{tag}> and </{tag}>. It must be valid by this JSON Schema: {schema}": (
        "请在 <{tag}> 和 </{tag}> 之间写一个 JSON 对象。它必须符合这个 JSON Schema：{schema}"
    ),
    "There are blocks for {name} and for {others}; write one for {name} alone.": (
        "既有 {name} 的块，又有 {others} 的块；请只写 {name} 的块。"
    ),
    "The block is for {other}, but {name} is asked for: write {block}.": (
        "这是 {other} 的块，但需要的是 {name} 的：请写 {block}。"
    ),
    "The block {block} is empty: write the instruction in it.": "块 {block} 是空的：请在其中写指令。",
    "The block {block} begins like JSON, but is not JSON: {reason}.": (
        "块 {block} 的开头像 JSON，但不是 JSON：{reason}。"
    ),
    "There is no complete block for {name}: write the instruction as {block}.": (
        "没有 {name} 的完整的块：请把指令写成 {block}。"
    ),
    "The instruction for {name} does not fit:\n{faults}": "{name} 的指令不符合要求：\n{faults}",
    "{text} is no number that JSON knows, or too large for one": "{text} 不是 JSON 中的数字，或者太大",
    # Arguments of bundled tools
    "a presentation's name ends in .pptx": "演示文稿的文件名应以 .pptx 结尾",
    "the folder of {error}": "所在的文件夹：{error}",
    "a path cannot hold the character NUL": "路径中不能有 NUL 字符",
    "{path!r} is no absolute path": "{path!r} 不是绝对路径",
    "{path!r} is not within the folder this tool may use": "{path!r} 不在本工具可用的文件夹内",
    "a positive number of seconds, not {value!r}": "应为正的秒数，而不是 {value!r}",
    "from 1 to {most} queries, none of them empty": "应为 1 到 {most} 个查询，都不能为空",
    "from 1 to {most} ids, 4 are better": "应为 1 到 {most} 个编号，不超过 4 个更好",
    "there is nothing in it to search for": "其中没有可搜索的内容",
    "from 1 to 100, not {value}": "应在 1 到 100 之间，而不是 {value}",
    "say where to search: here, or by latitude and longitude": "请说明在哪里搜索：填在这里，或给出纬度和经度",
    "it is empty": "内容为空",
}
