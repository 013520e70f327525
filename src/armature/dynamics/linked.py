"""temporary"""


def applies(tree) -> bool:
    return False
