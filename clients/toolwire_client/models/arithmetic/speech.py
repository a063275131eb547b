"""What the planner says, in the language it was asked in."""

from __future__ import annotations

from .expressions import Expression, Operation, Operator, written

_CHINESE: dict[Operator, str] = {
    "add": "加法",
    "subtract": "减法",
    "multiply": "乘法",
    "divide": "除法",
    "modulo": "求余数",
    "power": "乘方",
}
_ENGLISH: dict[Operator, str] = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "divide": "divide",
    "modulo": "find a remainder",
    "power": "raise to a power",
}


class Speech:
    """Sentences in Chinese or English."""

    def __init__(self, *, in_chinese: bool) -> None:
        self._in_chinese = in_chinese

    def written(self, expression: Expression) -> str:
        return written(expression, in_chinese=self._in_chinese)

    def thought_step(self, step: Operation, left: Expression) -> str:
        done, rest = self.written(step), self.written(left)
        if step is left:
            return self._one_of(f"计算 {done}。", f"I compute {done}.")
        return self._one_of(f"要求 {rest}，先算 {done}。", f"For {rest} I first compute {done}.")

    def thought_whole(self, expression: Expression) -> str:
        return self._one_of(
            f"有工具能直接计算 {self.written(expression)}。",
            f"One tool can compute {self.written(expression)} at once.",
        )

    def thought_done(self, ok: bool) -> str:
        if ok:
            return self._one_of("所有问题都算完了。", "Everything that was asked is computed.")
        return self._one_of("有的问题无法解决。", "Not everything can be solved.")

    def thought_missing(self) -> str:
        return self._one_of("还缺少一个数，需要问用户。", "A number is missing, which only the user can tell.")

    def thought_not_understood(self, part: str) -> str:
        return self._one_of(f"“{part}”不是我能理解的算术。", f"{part!r} is no arithmetic that I understand.")

    def nothing_asked(self) -> str:
        return self._one_of("没有收到问题。", "I was asked nothing.")

    def not_understood(self, part: str) -> str:
        return self._one_of(
            f"无法解答：我只会做算术，看不懂“{part}”。",
            f"I cannot answer this: I only do arithmetic, and do not understand {part!r}.",
        )

    def ask(self, expression: Expression) -> str:
        known = self.written(expression)
        if known.count("?") > 1:
            return self._one_of(
                f"要计算 {known}，还缺少几个数：第一个问号处应该是多少？",
                f"To compute {known} I need more numbers: which one goes where the first question mark is?",
            )
        return self._one_of(
            f"要计算 {known}，还缺少一个数：问号处应该是多少？",
            f"To compute {known} I need one more number: which one goes where the question mark is?",
        )

    def still_missing(self, expression: Expression) -> str:
        return self._one_of(
            f"无法计算 {self.written(expression)}：缺少一个数。",
            f"I cannot compute {self.written(expression)}: a number is missing.",
        )

    def failed(self, expression: Expression, told: str) -> str:
        return self._one_of(
            f"无法计算 {self.written(expression)}：工具报告了错误：{told}",
            f"I cannot compute {self.written(expression)}; the tool reports: {told}",
        )

    def no_number(self, expression: Expression, told: str) -> str:
        return self._one_of(
            f"无法计算 {self.written(expression)}：工具返回的不是一个数：{told}",
            f"I cannot compute {self.written(expression)}; what the tool returned is no number: {told}",
        )

    def no_tool(self, expression: Expression, operator: Operator) -> str:
        return self._one_of(
            f"无法计算 {self.written(expression)}：没有能做{_CHINESE[operator]}的工具。",
            f"I cannot compute {self.written(expression)}: there is no tool to {_ENGLISH[operator]}.",
        )

    def unsuitable(self, expression: Expression, which: str) -> str:
        return self._one_of(
            f"无法计算 {self.written(expression)}：工具只接受整数（{which}）。",
            f"I cannot compute {self.written(expression)}: the tool takes whole numbers only ({which}).",
        )

    def not_finished(self, expression: Expression) -> str:
        return self._one_of(
            f"没有算完 {self.written(expression)}。", f"I did not come to the end of {self.written(expression)}."
        )

    def _one_of(self, chinese: str, english: str) -> str:
        return chinese if self._in_chinese else english
