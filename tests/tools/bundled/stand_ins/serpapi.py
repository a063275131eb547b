"""What SerpApi's engines for Google Scholar answer, with papers that nobody wrote. Not verified
live.

The shapes are those of https://serpapi.com/google-scholar-api and /google-scholar-organic-results,
/google-scholar-author-api, /google-scholar-cite-api, /google-scholar-profiles-api; of an error,
/api-errors and /search-errors; of a search that goes on, /search-archive-api.
"""

from __future__ import annotations

from typing import Any

SEARCH_ID = "64c32cfeb68f8bc186aaa013"


def answer(status: str = "Success", **members: Any) -> dict[str, Any]:
    """What all answers have, and *members*."""
    metadata = {
        "id": SEARCH_ID,
        "status": status,
        "json_endpoint": f"https://serpapi.com/searches/x/{SEARCH_ID}.json",
    }
    return {
        "search_metadata": metadata,
        "search_parameters": {"engine": "google_scholar"},
        **members,
    }


def paper(number: int, **members: Any) -> dict[str, Any]:
    """A result of a search."""
    return {
        "position": number - 1,
        "title": f"On kettles, part {number}",
        "result_id": f"kettle{number}J",
        "link": f"https://kettles.example/{number}",
        "snippet": f"The {number}th kettle sings …",
        "publication_info": {
            "summary": f"A Brewer - Journal of Kettles, 200{number} - kettles.example"
        },
        "inline_links": {
            "serpapi_cite_link": f"https://serpapi.com/search.json?engine=google_scholar_cite&q=kettle{number}J",
            "cited_by": {"total": 10 * number, "cites_id": "994392615212287133"},
            "versions": {"total": 7},
        },
        **members,
    }


PAPERS = answer(organic_results=[paper(number) for number in range(1, 6)])
NOTHING = answer(
    search_information={"organic_results_state": "Fully empty"},
    error="Google hasn't returned any results for this query.",
)
UNDER_WAY = answer("Processing")
FAILED = answer(
    "Error", error="We couldn't get valid results for this search. Please try again later."
)

AUTHOR = answer(
    author={
        "name": "Ada Brewer",
        "affiliations": "Professor of Kettles, Steam University",
        "email": "Verified email at steam.example",
        "website": "https://brewer.example/",
        "interests": [
            {
                "title": "Kettles",
                "link": "https://scholar.google.com/citations?mauthors=label:kettles",
            }
        ],
    },
    articles=[
        {
            "title": f"On kettles, part {number}",
            "link": f"https://scholar.google.com/citations?citation_for_view=AdaBrewerAAAAJ:{number}",
            "citation_id": f"AdaBrewerAAAAJ:{number}",
            "authors": "A Brewer, B Cooper",
            "publication": f"Journal of Kettles {number}",
            "cited_by": {"value": 10 * number},
            "year": f"200{number}",
        }
        for number in range(1, 6)
    ],
    cited_by={"table": [{"citations": {"all": 150}}]},
)
ONE_ARTICLE = answer(
    citation={
        "title": "On kettles, part 1",
        "authors": "A Brewer, B Cooper",
        "publication_date": "2001/4/1",
        "journal": "Journal of Kettles",
        "total_citations": {"cited_by": {"total": 10}},
    }
)
COLLEAGUES = answer(
    co_authors=[
        {"name": "Ben Cooper", "author_id": "BenCooperAAAAJ", "affiliations": "Steam University"}
    ]
)
CITATIONS = answer(
    citations=[
        {"title": "APA", "snippet": "Brewer, A. (2001). On kettles. Journal of Kettles, 1, 1-9."},
        {"title": "MLA", "snippet": 'Brewer, Ada. "On kettles." Journal of Kettles 1 (2001): 1-9.'},
    ],
    links=[
        {
            "name": "BibTeX",
            "link": "https://scholar.googleusercontent.com/scholar.bib?q=info:kettle1J",
        }
    ],
)
PROFILES = answer(
    profiles=[
        {
            "name": "Ada Brewer",
            "author_id": "AdaBrewerAAAAJ",
            "affiliations": "Steam University",
            "cited_by": 150,
        },
        {"name": "Adam Brewer", "author_id": "AdamBrewerAAAJ", "affiliations": "Kettle College"},
    ],
    pagination={"next_page_token": "xyz"},
)
NO_KEY = {
    "error": "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"
}
