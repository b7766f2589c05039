"""hooks.py - what mkdocs' theme lacks for keyboards and screen readers: whatever scrolls sideways is reached by Tab,
and all that is shown lies in a landmark."""
import re


def reached(html):
    html = html.replace("<pre><code", '<pre tabindex="0"><code')
    html = re.sub(r"<table>(.*?)</table>", r'<div class="wide" role="group" aria-label="table" tabindex="0"><table>\1'
                  "</table></div>", html, flags=re.S)
    html = re.sub(r'<div role="contentinfo">.*?</div>', "", html, flags=re.S)
    return html.replace("<footer>", '<footer role="contentinfo">').replace('role="note"', 'role="navigation"')


def on_post_page(output, **_):
    return reached(output)


def on_post_template(output_content, template_name, **_):
    return reached(output_content) if template_name.endswith(".html") else output_content
