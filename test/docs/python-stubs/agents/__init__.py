"""The decorator of the OpenAI Agents SDK, as far as the recipe uses it."""


def function_tool(function):
    return function
