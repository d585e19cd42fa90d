echo "pretended with $(cat)"
