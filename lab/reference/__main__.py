"""`make reference`: write the generated pages of docs/. A test fails when one of them is stale."""

from lab.reference.pages import DOCS, pages


def main() -> None:
    for name, content in pages().items():
        (DOCS / name).write_text(content, encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
