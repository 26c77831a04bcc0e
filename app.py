"""The app, for ``streamlit run app.py``; ``sizer app`` starts the same one."""

from sizer.ui.main import main

main()
